// CUDA arrays: images in device memory, which kernels reach by textures and
// surfaces alone; and what copies to and from them share with other copies.
#pragma once
#include <vector>

#include "common/simt/memory/allocations.h"
#include "common/simt/memory/images.h"
#include "common/simt/runtime/graphs.h"
#include "common/simt/runtime/ranges.h"
#include "common/simt/runtime/runtime.h"

namespace simt {

struct Array {
  Image image;
  cudaChannelFormatDesc channels = {};
  cudaExtent extent = {};  // as it was asked for: 0 where there is no dimension
  unsigned flags = 0;
  bool is_level = false;  // of a mipmapped array, which frees it
};

// The levels of a mipmapped array, the largest first; refuses what is none.
std::vector<Image> levels_of(cudaMipmappedArray_const_t handle);

// Refuses what is none.
Array array_of(cudaArray_const_t handle);

// The form of a texel; refuses what is none, or has none of ours.
void set_channels(Image& image, const cudaChannelFormatDesc& channels);

// The same copy between memory alone.
cudaMemcpy3DParms without_arrays(cudaMemcpy3DParms copy);

// ---- Of allocating.cpp, copying.cpp, pointers.cpp
// ----------------------------

// The pointer to a result says that there is none yet. No bytes can always be
// had.
void begin_allocation(void** pointer, size_t bytes);
void* allocate(size_t bytes, Memory memory, const char* name);
void* allocate(size_t bytes, Memory memory, const char* name, int device,
               uint64_t pool);
// Memory that came from a pool was freed.
void note_returned(uint64_t pool, size_t bytes);
// In the order of a stream, whose work it is.
void free_in_stream(void* pointer);
inline bool is_empty(cudaExtent box) {
  return box.width == 0 || box.height == 0 || box.depth == 0;
}

// Whose memory a kind of copy moves.
struct Sides {
  Side to, from;
};
Sides sides_of(cudaMemcpyKind kind);
void require_device_side(Side side);
// A single row needs no pitch.
void require_rows(size_t pitch, size_t width, size_t height);

Work copy_2d_work(void* to, size_t to_pitch, const void* from,
                  size_t from_pitch, size_t width, size_t height,
                  cudaMemcpyKind kind);
void run_now(const Work& work, const Tasks& after = {});

}  // namespace simt
