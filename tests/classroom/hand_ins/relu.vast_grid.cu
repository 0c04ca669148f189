// Hostile: the largest grid that there is.
#include "common/check.h"
#include "common/relu.h"

__global__ void relu_kernel() {}

void relu(const float*, float*, int64_t n, cudaStream_t stream) {
  if (n > 0) relu_kernel<<<0x7fffffff, 1024, 0, stream>>>();
}
