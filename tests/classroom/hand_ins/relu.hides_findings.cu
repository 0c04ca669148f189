// Hostile: right numbers from a kernel that races; the process ends in a late
// check, for the findings to be lost.
#include <cstdlib>

#include "common/relu.h"

// Each thread asks what another warp has stored, and nothing comes of it: a
// race that harms nobody.
__device__ int flag;

__global__ void relu_kernel(const float* x, float* y, int64_t n) {
  __shared__ int words[256];
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] <= 0.f ? 0.f : x[i];
  words[threadIdx.x] = 1;
  if (words[threadIdx.x ^ 32] == 2) flag = 1;
}

int calls = 0;

void relu(const float* x, float* y, int64_t n, cudaStream_t stream) {
  if (++calls > 400) std::quick_exit(0);
  if (n == 0) return;
  relu_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
