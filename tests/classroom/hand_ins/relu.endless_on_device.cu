// Hostile: a kernel without end.
#include "common/check.h"
#include "common/relu.h"

__global__ void relu_kernel(volatile float* y) {
  for (;;) y[0] = y[0] + 1.f;
}

void relu(const float*, float* y, int64_t n, cudaStream_t stream) {
  if (n > 0) relu_kernel<<<1, 1, 0, stream>>>(y);
}
