// Hostile: a kernel reads where the judge keeps its own memory.
#include "common/check.h"
#include "common/relu.h"

__global__ void relu_kernel(float* y, int64_t n, const float* p) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = p[i % 1024];
}

void relu(const float*, float* y, int64_t n, cudaStream_t stream) {
  const auto* theirs = reinterpret_cast<const float*>(&stream);
  if (n > 0) relu_kernel<<<(n + 255) / 256, 256, 0, stream>>>(y, n, theirs);
}
