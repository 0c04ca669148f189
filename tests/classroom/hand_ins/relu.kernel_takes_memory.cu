// Hostile: kernels allocate without end, and write to what they get.
#include "common/check.h"
#include "common/relu.h"

__global__ void relu_kernel() {
  for (;;)
    if (auto* p = static_cast<char*>(malloc(1 << 20)))
      for (int k = 0; k < 1 << 20; k += 4096) p[k] = 1;
}

void relu(const float*, float*, int64_t n, cudaStream_t stream) {
  if (n > 0) relu_kernel<<<64, 32, 0, stream>>>();
}
