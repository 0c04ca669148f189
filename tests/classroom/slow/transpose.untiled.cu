// Slow on purpose: no tile; neighbouring threads store a column apart.
// Misses: sectors per store request.

#include "common/check.h"
#include "common/classroom/tasks/transpose/transpose.h"

namespace {

constexpr int kBlock = 256;

__global__ void transpose_kernel(const float* __restrict__ x,
                                 float* __restrict__ y, int64_t rows,
                                 int64_t columns) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;

  if (i < rows * columns) y[i % columns * rows + i / columns] = x[i];
}

}  // namespace

void transpose(const float* x, float* y, int64_t rows, int64_t columns,
               cudaStream_t stream) {
  const int64_t grid = (rows * columns + kBlock - 1) / kBlock;
  if (grid == 0) return;  // A grid of no blocks is a launch error.

  transpose_kernel<<<grid, kBlock, 0, stream>>>(x, y, rows, columns);
  CUDA_CHECK(cudaGetLastError());
}
