// Wrong: the host reads what only the GPU can.
#include "common/relu.h"

void relu(const float* x, float* y, int64_t n, cudaStream_t) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] <= 0.f ? 0.f : x[i];
}
