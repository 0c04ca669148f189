// Chapter 14, variant: one element per thread, and no tile.
//
// New:   threads and blocks are counted in two dimensions, columns and rows.
// Why:   a thread's place in the grid is then its place in the matrix.
// Price: a warp reads 32 neighbours of a row and writes them down a column,
//        each into a sector of its own.

#include <algorithm>

#include "common/check.h"
#include "common/transpose.h"

namespace {

constexpr int kTile = 32;                // Columns of threads in a block,
constexpr int kRows = 8;                 // and rows: each is a warp.
constexpr int64_t kMostBlocks = 65'535;  // In a grid's second dimension.

template <class T>
__global__ void transpose_kernel(const T* __restrict__ x, T* __restrict__ y,
                                 int64_t rows, int64_t columns) {
  const int64_t c = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t first = int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
  const int64_t step = int64_t{gridDim.y} * blockDim.y;

  if (c >= columns) return;
  for (int64_t r = first; r < rows; r += step)
    y[c * rows + r] = x[r * columns + c];
}

template <class T>
void transpose_any(const T* x, T* y, int64_t rows, int64_t columns,
                   cudaStream_t stream) {
  if (rows == 0 || columns == 0) return;  // No blocks are a launch error.

  const int64_t blocks_down = std::min((rows + kRows - 1) / kRows, kMostBlocks);
  const dim3 grid((columns + kTile - 1) / kTile, blocks_down);
  const dim3 block(kTile, kRows);
  transpose_kernel<<<grid, block, 0, stream>>>(x, y, rows, columns);
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
