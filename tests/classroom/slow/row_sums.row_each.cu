// Slow on purpose: a thread adds up a row, and a warp's rows lie far apart.
// Misses: sectors per load request.

#include "common/check.h"
#include "common/classroom/tasks/row_sums/row_sums.h"

namespace {

constexpr int kBlock = 256;

__global__ void row_sums_kernel(const float* __restrict__ x,
                                float* __restrict__ y, int64_t rows,
                                int64_t columns) {
  const int64_t row = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (row >= rows) return;

  float sum = 0.f;
  for (int64_t i = 0; i < columns; ++i) sum += x[row * columns + i];
  y[row] = sum;
}

}  // namespace

void row_sums(const float* x, float* y, int64_t rows, int64_t columns,
              cudaStream_t stream) {
  const int64_t grid = (rows + kBlock - 1) / kBlock;
  if (grid == 0) return;  // A grid of no blocks is a launch error.

  row_sums_kernel<<<grid, kBlock, 0, stream>>>(x, y, rows, columns);
  CUDA_CHECK(cudaGetLastError());
}
