// Slow on purpose: every thread fetches all of its window.
// Misses: load requests, sectors per load request.

#include "common/check.h"
#include "common/classroom/tasks/moving_sum/moving_sum.h"

namespace {

constexpr int kBlock = 256;

__global__ void moving_sum_kernel(const float* __restrict__ x,
                                  float* __restrict__ y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * kBlock + threadIdx.x;
  if (i >= n) return;

  float sum = -0.f;
  for (int k = -kReach; k <= kReach; ++k) {
    if (i + k >= 0 && i + k < n) sum += x[i + k];
  }
  y[i] = sum;
}

}  // namespace

void moving_sum(const float* x, float* y, int64_t n, cudaStream_t stream) {
  const int64_t grid = (n + kBlock - 1) / kBlock;
  if (grid == 0) return;  // A grid of no blocks is a launch error.

  moving_sum_kernel<<<grid, kBlock, 0, stream>>>(x, y, n);
  CUDA_CHECK(cudaGetLastError());
}
