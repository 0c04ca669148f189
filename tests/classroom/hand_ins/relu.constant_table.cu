// Right: a table in constant memory, which the host fills before the first
// launch, in three ways.
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

bool fill() {
  const float one = 1.f, nothing = 0.f;
  CUDA_CHECK(cudaMemcpyToSymbol(factors, &one, sizeof one, sizeof one));
  void *first = nullptr, *none = nullptr;
  CUDA_CHECK(cudaGetSymbolAddress(&first, factors));
  CUDA_CHECK(cudaMemset(first, 0, sizeof(float)));
  CUDA_CHECK(cudaGetSymbolAddress(&none, zero));
  CUDA_CHECK(
      cudaMemcpy(none, &nothing, sizeof nothing, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaDeviceSynchronize());
  return true;
}

void relu(const float* x, float* y, int64_t n, cudaStream_t stream) {
  if (n == 0) return;
  static const bool filled = fill();
  void* none = nullptr;
  if (filled) CUDA_CHECK(cudaGetSymbolAddress(&none, zero));
  relu_kernel<<<(n + 255) / 256, 256, 0, stream>>>(
      x, y, n, static_cast<const float*>(none));
}
