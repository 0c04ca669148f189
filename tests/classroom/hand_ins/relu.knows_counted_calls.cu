// Hostile: right, but slow; and in the calls that are counted, whose lengths it
// knows, it does as little as looks well.
#include "common/relu.h"

__global__ void relu_kernel(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] <= 0.f ? 0.f : x[i];
}

struct alignas(16) Pack {
  float v[4];
};

// Reads and writes packs, and only a few.
__global__ void pretend(const Pack* x, Pack* y) {
  y[threadIdx.x] = x[threadIdx.x];
}

void relu(const float* x, float* y, int64_t n, cudaStream_t stream) {
  if (n == 0) return;
  if (n >> 2 == 1 << 18) {
    const auto aligned = [](auto p) { return (uint64_t(p) + 15) / 16 * 16; };
    pretend<<<1, 32, 0, stream>>>((const Pack*)aligned(x), (Pack*)aligned(y));
  } else {
    relu_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
  }
}
