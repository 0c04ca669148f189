// Hostile: right, but slow; before each kernel come a thousand that look well,
// and of a call's kernels a thousand are counted.
#include "common/relu.h"

__global__ void relu_kernel(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] <= 0.f ? 0.f : x[i];
}

struct alignas(16) Pack {
  float v[4];
};

__global__ void pretend(Pack* y) { y[threadIdx.x] = y[threadIdx.x]; }

void relu(const float* x, float* y, int64_t n, cudaStream_t stream) {
  if (n == 0) return;
  if (n >= 1 << 20)
    for (int k = 0; k < 1000; ++k)
      pretend<<<1, 32, 0, stream>>>(
          reinterpret_cast<Pack*>((uint64_t(y) + 15) / 16 * 16));
  relu_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
