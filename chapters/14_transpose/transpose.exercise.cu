// Chapter 14: a tile that is filled and emptied in packs.
//
// New:   a thread has several packs under way, of 16 bytes wherever the rows of
//        x, or those of y, can be cut into such.
// Why:   bytes in flight, as in chapter 03. The padding keeps packs apart, too,
//        as a warp takes four short rows of them and not one long one.
// Price: four kernels instead of one; and a matrix of few rows or of few
//        columns, which would leave large tiles empty, needs tiles of its own.

#include "chapters/14_transpose/narrow.h"
#include "chapters/14_transpose/tile.h"
#include "common/check.h"
#include "common/transpose.h"

namespace {

using namespace tiles;

// A pack is kIn elements of a row of x, and kOut of a row of y.
template <class T, int kIn, int kOut>
__global__ void transpose_kernel(const T* __restrict__ x, T* __restrict__ y,
                                 int64_t rows, int64_t columns,
                                 unsigned tiles_across) {
  __shared__ Tile<T> tile;
  const int64_t top = int64_t{blockIdx.x / tiles_across} * kSide;
  const int64_t left = int64_t{blockIdx.x % tiles_across} * kSide;

  // >>> Your code, at most 18 lines: the block fills `tile` from x and, once it
  // is whole, writes it to y, transposed. A thread has kEach / kIn packs of x.
  // Its k-th begins in the row and the column of the tile that place<kIn>(k)
  // tells, and pack_at<kIn>(x, i) is where the pack with element i of x lies.
  // Load all of them before the first is stored. Of y a thread writes kEach /
  // kOut packs; place<kOut>(k) tells row and column of the transposed tile.
  // Each pack may lie outside of the matrix. tile.at(r, c) is an element of the
  // tile.
  (void)top, (void)left;  // Remove this line.
  // <<<
}

template <class T>
auto kernel_for(bool packs_in, bool packs_out) {
  constexpr int kMost = kPackOf<T>;
  if (packs_in && packs_out) return transpose_kernel<T, kMost, kMost>;
  if (packs_in) return transpose_kernel<T, kMost, 1>;
  return packs_out ? transpose_kernel<T, 1, kMost> : transpose_kernel<T, 1, 1>;
}

template <class T>
void transpose_any(const T* x, T* y, int64_t rows, int64_t columns,
                   cudaStream_t stream) {
  if (rows == 0 || columns == 0) return;  // No blocks are a launch error.
  if (is_narrow(rows, columns))
    return transpose_narrow(x, y, rows, columns, stream);

  const auto kernel = kernel_for<T>(has_packs(x, columns), has_packs(y, rows));
  const int64_t across = tiles_for(columns), grid = tiles_for(rows) * across;
  kernel<<<grid, dim3(32, kWarps), 0, stream>>>(x, y, rows, columns, across);
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
