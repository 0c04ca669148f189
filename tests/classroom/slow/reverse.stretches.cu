// Slow on purpose: each thread has a stretch of the array for itself.
// Misses: sectors per load request, sectors per store request, bytes moved by
// all requests.

#include "common/check.h"
#include "common/classroom/tasks/reverse/reverse.h"
#include "common/grid.h"

namespace {

constexpr int kEach = 32;

__global__ void reverse_kernel(const float* __restrict__ x,
                               float* __restrict__ y, int64_t n) {
  const int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t step = int64_t{gridDim.x} * blockDim.x;

  for (int64_t k = first; k * kEach < n; k += step) {
    for (int64_t i = k * kEach; i < (k + 1) * kEach && i < n; ++i)
      y[i] = x[n - 1 - i];
  }
}

}  // namespace

void reverse(const float* x, float* y, int64_t n, cudaStream_t stream) {
  reverse_kernel<<<grid_for((n + kEach - 1) / kEach), kBlock, 0, stream>>>(x, y,
                                                                           n);
  CUDA_CHECK(cudaGetLastError());
}
