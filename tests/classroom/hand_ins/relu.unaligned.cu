// Slow: the first number is done apart, so that every warp begins one float
// behind a sector's begin.
#include "common/check.h"
#include "common/relu.h"

__global__ void relu_kernel(const float* x, float* y, int64_t n) {
  const int64_t k = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int64_t i = (k + 1) % n;
  if (k < n) y[i] = x[i] <= 0.f ? 0.f : x[i];
}

void relu(const float* x, float* y, int64_t n, cudaStream_t stream) {
  if (n == 0) return;
  relu_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
