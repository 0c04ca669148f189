// Slow on purpose: the working threads lie side by side, their numbers do not.
// Misses: bank conflicts of shared loads.

#include <bit>

#include "common/check.h"
#include "common/classroom/tasks/row_sums/row_sums.h"

namespace {

constexpr int kBlock = 256;
constexpr int kTile = 4 * kBlock;  // Numbers in a segment.
static_assert(std::has_single_bit(unsigned{kBlock}));

__global__ void row_sums_kernel(const float* __restrict__ x,
                                float* __restrict__ y, int64_t columns,
                                int64_t segments) {
  __shared__ float tile[kBlock];
  const int64_t row = blockIdx.x / segments;
  const int64_t first = blockIdx.x % segments * kTile + threadIdx.x;

  float sum = 0.f;
  for (int k = 0; k < kTile; k += kBlock) {
    const int64_t i = first + k;
    if (i < columns) sum += x[row * columns + i];
  }
  tile[threadIdx.x] = sum;
  for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
    __syncthreads();
    const unsigned i = 2 * stride * threadIdx.x;
    if (i < blockDim.x) tile[i] += tile[i + stride];
  }
  if (threadIdx.x == 0) atomicAdd(&y[row], tile[0]);
}

}  // namespace

void row_sums(const float* x, float* y, int64_t rows, int64_t columns,
              cudaStream_t stream) {
  CUDA_CHECK(cudaMemsetAsync(y, 0, rows * sizeof(float), stream));
  const int64_t segments = (columns + kTile - 1) / kTile;
  const int64_t grid = rows * segments;
  if (grid == 0) return;  // A grid of no blocks is a launch error.

  row_sums_kernel<<<grid, kBlock, 0, stream>>>(x, y, columns, segments);
  CUDA_CHECK(cudaGetLastError());
}
