// Hostile: the host computes what the GPU should. It needs what the GPU's
// memory holds, and nobody gives it.
#include <vector>

#include "common/relu.h"

void relu(const float* x, float* y, int64_t n, cudaStream_t) {
  std::vector<float> v(n);
  cudaMemcpy(v.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost);
  for (float& one : v) one = one <= 0.f ? 0.f : one;
  cudaMemcpy(y, v.data(), n * sizeof(float), cudaMemcpyHostToDevice);
}
