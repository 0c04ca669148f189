// Wrong on purpose: the rows in front of a tile are taken, and never loaded.

#include "chapters/14_transpose/narrow.h"
#include "chapters/14_transpose/tile.h"
#include "common/check.h"
#include "common/transpose.h"

namespace {

using namespace tiles;

// A pack is kIn elements of a row of x, and kOut of a row of y. Where rows of y
// begin within a sector, their pieces do not: the tile has rows before its own.
template <class T, int kIn, int kOut>
__global__ void transpose_kernel(const T* __restrict__ x, T* __restrict__ y,
                                 int64_t rows, int64_t columns,
                                 unsigned tiles_down) {
  constexpr int kBefore = kOut == 1 ? kSectorBytes / sizeof(T) : 0;
  __shared__ Tile<T, kBefore + kSide> tile;
  const int64_t top = int64_t{blockIdx.x % tiles_down} * kSide - kBefore;
  const int64_t left = int64_t{blockIdx.x / tiles_down} * kSide;

  const Place in = place<kIn>();
  constexpr int kLoads = (kBefore + kSide + kDown<kIn> - 1) / kDown<kIn>;
  Pack<T, kIn> pack[kLoads];  // All are under way before one is needed.
  const int64_t r = top + in.row, c = left + in.column;
  const auto* const from = pack_at<kIn>(x, r * columns + c);
  for (int k = 0; k < kLoads; ++k)
    if (k * kDown<kIn> + in.row >= kBefore && is_in(r + k * kDown<kIn>, rows) &&
        c < columns)
      pack[k] = from[k * (kDown<kIn> / kIn) * columns];
  for (int k = 0; k < kLoads; ++k)
    tile.put(in.row + k * kDown<kIn>, in.column, pack[k]);
  __syncthreads();
  const Place out = place<kOut>();  // Rows and columns change places.
  for (int k = 0; k < kSide / kDown<kOut>; ++k) {
    const int column = out.row + k * kDown<kOut>;
    const int64_t i = (left + column) * rows + top;
    const int skipped = kOut == 1 ? offset_in_sector(y + i) : 0;
    const int row = out.column + kBefore - skipped;
    if (is_in(top + row, rows) && left + column < columns)
      *pack_at<kOut>(y, i + row) = tile.template take<kOut>(row, column);
  }
}

template <class T>
void transpose_any(const T* x, T* y, int64_t rows, int64_t columns,
                   cudaStream_t stream) {
  if (rows == 0 || columns == 0) return;  // No blocks are a launch error.
  if (is_narrow(rows, columns))
    return transpose_narrow(x, y, rows, columns, stream);
  constexpr int kMost = kPackOf<T>;
  const bool packs_in = rows_begin_at(kPackBytes, x, columns);
  const bool packs_out = rows_begin_at(kSectorBytes, y, rows);
  const auto kernel = packs_in ? packs_out ? transpose_kernel<T, kMost, kMost>
                                           : transpose_kernel<T, kMost, 1>
                      : packs_out ? transpose_kernel<T, 1, kMost>
                                  : transpose_kernel<T, 1, 1>;
  const int64_t down = tiles_for(rows + (packs_out ? 0 : kSectorBytes));
  kernel<<<down * tiles_for(columns), dim3(32, kWarps), 0, stream>>>(
      x, y, rows, columns, down);
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
