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

  const Place in = place<kPack>();
  constexpr int kPacks = kSide / kDown<kPack>;
  Pack<T, kPack> pack[kPacks];  // All are under way before one is needed.
  const int64_t r = top + in.row, c = left + in.column;
  const auto* const from = pack_at<kPack>(x, r * columns + c);
  for (int k = 0; k < kPacks; ++k)
    if (r + k * kDown<kPack> < rows && c < columns)
      pack[k] = from[k * (kDown<kPack> / kPack) * columns];
  for (int k = 0; k < kPacks; ++k)
    tile.put(in.row + k * kDown<kPack>, in.column, pack[k]);
  __syncthreads();
  const Place out = place<kPack>();  // Rows and columns change places.
  for (int k = 0; k < kPacks; ++k) {
    const int column = out.row + k * kDown<kPack>;
    const int64_t i = (left + column) * rows + top + out.column;
    if (top + out.column < rows && left + column < columns)
      *pack_at<kPack>(y, i) = tile.template take<kPack>(out.column, column);
  }
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
