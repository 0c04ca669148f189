// Slow: neighbouring threads read numbers far apart, each a stretch of its own.
#include "common/check.h"
#include "common/relu.h"

constexpr int kEach = 32;

__global__ void relu_kernel(const float* x, float* y, int64_t n) {
  const int64_t first =
      (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * kEach;
  for (int64_t i = first; i < first + kEach && i < n; ++i)
    y[i] = x[i] <= 0.f ? 0.f : x[i];
}

void relu(const float* x, float* y, int64_t n, cudaStream_t stream) {
  if (n == 0) return;
  const int64_t threads = (n + kEach - 1) / kEach;
  relu_kernel<<<(threads + 255) / 256, 256, 0, stream>>>(x, y, n);
}
