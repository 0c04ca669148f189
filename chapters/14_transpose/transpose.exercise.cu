// Chapter 14: a tile that is filled and emptied in packs.
//
// New:   a thread has several packs of 16 bytes under way, in rows of x and of
//        y alike.
// Why:   bytes in flight, as in chapter 03. The padding keeps packs apart, too,
//        with a gap where lanes would come back to the same banks.
// Price: other tiles for a narrow matrix, and where rows cannot be cut into
//        packs.

#include "chapters/14_transpose/narrow.h"
#include "chapters/14_transpose/tall.h"
#include "chapters/14_transpose/tile.h"
#include "common/check.h"
#include "common/transpose.h"

namespace {

using namespace tiles;

// A thread's packs lie in rows of x, and then in rows of y.
template <class T, int kPack>
__global__ void transpose_kernel(const T* __restrict__ x, T* __restrict__ y,
                                 int64_t rows, int64_t columns,
                                 unsigned tiles_down) {
  __shared__ Tile<T, kSide> tile;
  const int64_t top = int64_t{blockIdx.x % tiles_down} * kSide;
  const int64_t left = int64_t{blockIdx.x / tiles_down} * kSide;

  // >>> Your code, at most 20 lines: the block fills `tile` from x and, once it
  // is whole, writes it to y, transposed. place<kPack>() says in which row and
  // column of the tile a thread's first pack of x begins; each further one lies
  // kDown<kPack> rows below the one before, down to the tile's end. Load all of
  // them from pack_at<kPack>(x, i) before the first goes into the tile, by
  // tile.put(). A thread writes as many packs of y, and place<kPack>() says in
  // which row and column of the transposed tile. tile.template take<kPack>()
  // gives a pack. Any pack may lie outside the matrix.
  (void)top, (void)left;  // Remove this line.
  // <<<
}

template <class T>
void transpose_any(const T* x, T* y, int64_t rows, int64_t columns,
                   cudaStream_t stream) {
  if (rows == 0 || columns == 0) return;  // No blocks are a launch error.
  if (is_narrow(rows, columns))
    return transpose_narrow(x, y, rows, columns, stream);
  constexpr int kMost = kPackOf<T>;
  if (!rows_begin_at(kPackBytes, x, columns))
    return transpose_tall<T, 1>(x, y, rows, columns, stream);
  if (!rows_begin_at(kSectorBytes, y, rows))
    return has_room<T, kMost>()
               ? transpose_tall<T, kMost>(x, y, rows, columns, stream)
               : transpose_tall<T, 1>(x, y, rows, columns, stream);
  const int64_t down = tiles_for(rows), grid = down * tiles_for(columns);
  transpose_kernel<T, kMost>
      <<<grid, dim3(32, kWarps), 0, stream>>>(x, y, rows, columns, down);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace

void transpose(const float* x, float* y, int64_t rows, int64_t columns,
               cudaStream_t stream) {
  transpose_any(x, y, rows, columns, stream);
}

void transpose_half(const __half* x, __half* y, int64_t rows, int64_t columns,
                    cudaStream_t stream) {
  transpose_any(x, y, rows, columns, stream);
}
