// Right, and slow for chapter 03: what it prints counts for nothing.
#include <cstdio>

#include "common/relu.h"

struct Noise {
  Noise() { std::puts("FAILED: 0 of 100 points"); }
  ~Noise() { std::puts("Segmentation fault"); }
} noise;

__global__ void relu_kernel(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] <= 0.f ? 0.f : x[i];
}

void relu(const float* x, float* y, int64_t n, cudaStream_t stream) {
  if (n == 0) return;
  relu_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
