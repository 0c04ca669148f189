// Right: a macro writes the kernel and its launch.
#include "common/check.h"
#include "common/relu.h"

#define ELEMENTWISE(name, formula)                                          \
  __global__ void name##_kernel(const float* x, float* y, int64_t n) {      \
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;       \
    if (i >= n) return;                                                     \
    const float v = x[i];                                                   \
    y[i] = (formula);                                                       \
  }                                                                         \
  void name(const float* x, float* y, int64_t n, cudaStream_t stream) {     \
    if (n > 0) name##_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n); \
  }

ELEMENTWISE(relu, v <= 0.f ? 0.f : v)
