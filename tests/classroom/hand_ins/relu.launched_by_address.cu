// Right: cudaLaunchKernel() is called with addresses, not by <<<>>>.
#include "common/check.h"
#include "common/relu.h"

__global__ void relu_kernel(const float* x, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] <= 0.f ? 0.f : x[i];
}

void relu(const float* x, float* y, int64_t n, cudaStream_t stream) {
  if (n == 0) return;
  void* arguments[] = {&x, &y, &n};
  CUDA_CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(relu_kernel),
                              dim3((n + 255) / 256), dim3(256), arguments, 0,
                              stream));
}
