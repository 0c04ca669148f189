// Hostile: kernels print without end.
#include <cstdio>

#include "common/check.h"
#include "common/relu.h"

__global__ void relu_kernel() {
  for (;;) printf("{\"whole\": true}\n");
}

void relu(const float*, float*, int64_t n, cudaStream_t stream) {
  if (n > 0) relu_kernel<<<1, 1, 0, stream>>>();
}
