// Hostile: gigabytes of variables on the GPU, and of each thread's own.
#include "common/check.h"
#include "common/relu.h"

__device__ float much[1 << 28];

__global__ void relu_kernel(float* y, int64_t n) {
  float own[1 << 20];
  for (int k = 0; k < 1 << 20; ++k) own[k] = much[k * 200 + threadIdx.x];
  for (int k = 0; k < 1 << 20; ++k) y[k % n] += own[(k * 77) % (1 << 20)];
}

void relu(const float*, float* y, int64_t n, cudaStream_t stream) {
  if (n > 0) relu_kernel<<<1024, 1024, 0, stream>>>(y, n);
}
