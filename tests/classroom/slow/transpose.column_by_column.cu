// Slow on purpose: a warp reads a column of x, and has nothing left to turn.
// Misses: sectors per load request, bank conflicts of shared loads, bank
// conflicts of shared stores.

#include "common/check.h"
#include "common/classroom/tasks/transpose/transpose.h"

namespace {

constexpr int kTile = 32;  // A warp moves a row of a tile: 128 bytes.
constexpr int kRows = 8;   // So many of them at once.

// One dimension counts the tiles: no other of a grid has room for as many.
__global__ void transpose_kernel(const float* __restrict__ x,
                                 float* __restrict__ y, int64_t rows,
                                 int64_t columns, int64_t tiles_across) {
  __shared__ float tile[kTile][kTile];
  const int64_t top = blockIdx.x / tiles_across * kTile;
  const int64_t left = blockIdx.x % tiles_across * kTile;

  for (int k = threadIdx.y; k < kTile; k += kRows) {
    const int64_t r = top + threadIdx.x, c = left + k;
    if (r < rows && c < columns) tile[threadIdx.x][k] = x[r * columns + c];
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

  const int64_t tiles_across = tiles_for(columns);
  const int64_t grid = tiles_for(rows) * tiles_across;
  transpose_kernel<<<grid, dim3(kTile, kRows), 0, stream>>>(x, y, rows, columns,
                                                            tiles_across);
  CUDA_CHECK(cudaGetLastError());
}
