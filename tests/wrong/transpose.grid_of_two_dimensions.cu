// Wrong on purpose: the second dimension of a grid has at most 65,535 blocks.

#include "common/check.h"
#include "common/classroom/tasks/transpose/transpose.h"

namespace {

constexpr int kTile = 32;  // A warp moves a row of a tile: 128 bytes.
constexpr int kRows = 8;   // So many of them at once.

__global__ void transpose_kernel(const float* __restrict__ x,
                                 float* __restrict__ y, int64_t rows,
                                 int64_t columns) {
  // One more in each row: then a column's numbers lie in different banks.
  __shared__ float tile[kTile][kTile + 1];
  const int64_t top = int64_t{blockIdx.y} * kTile;
  const int64_t left = int64_t{blockIdx.x} * kTile;

  for (int k = threadIdx.y; k < kTile; k += kRows) {
    const int64_t r = top + k, c = left + threadIdx.x;
    if (r < rows && c < columns) tile[k][threadIdx.x] = x[r * columns + c];
  }
  __syncthreads();
  for (int k = threadIdx.y; k < kTile; k += kRows) {
    const int64_t r = top + threadIdx.x, c = left + k;
    if (r < rows && c < columns) y[c * rows + r] = tile[threadIdx.x][k];
  }
}

int64_t tiles_for(int64_t n) { return (n + kTile - 1) / kTile; }

}  // namespace

void transpose(const float* x, float* y, int64_t rows, int64_t columns,
               cudaStream_t stream) {
  if (rows == 0 || columns == 0) return;  // No blocks are a launch error.

  const dim3 grid(tiles_for(columns), tiles_for(rows));
  transpose_kernel<<<grid, dim3(kTile, kRows), 0, stream>>>(x, y, rows,
                                                            columns);
  CUDA_CHECK(cudaGetLastError());
}
