// Right: a table in constant memory, which the host fills before each launch,
// in three ways.
#include "common/check.h"
#include "common/relu.h"

__constant__ float factors[2];
__device__ float zero;

// By its sign: -0 comes out as +0, NaN as NaN.
__global__ void relu_kernel(const float* x, float* y, int64_t n,
                            const float* none) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] <= 0.f ? factors[0] + *none : factors[1] * x[i];
}

void relu(const float* x, float* y, int64_t n, cudaStream_t stream) {
  if (n == 0) return;
  static const float one = 1.f, nothing = 0.f;
  CUDA_CHECK(cudaMemcpyToSymbolAsync(factors, &one, sizeof one, sizeof one,
                                     cudaMemcpyHostToDevice, stream));
  void* first = nullptr;
  CUDA_CHECK(cudaGetSymbolAddress(&first, factors));
  CUDA_CHECK(cudaMemsetAsync(first, 0, sizeof(float), stream));
  void* none = nullptr;
  CUDA_CHECK(cudaGetSymbolAddress(&none, zero));
  CUDA_CHECK(cudaMemcpyAsync(none, &nothing, sizeof nothing,
                             cudaMemcpyHostToDevice, stream));
  relu_kernel<<<(n + 255) / 256, 256, 0, stream>>>(
      x, y, n, static_cast<const float*>(none));
}
