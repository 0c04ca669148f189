// Hostile: it brings cudaMalloc() and cudaLaunchKernel() of its own.
#include "common/relu.h"

extern "C" cudaError_t cudaMalloc(void**, size_t) { return cudaSuccess; }
extern "C" cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, size_t,
                                        cudaStream_t) {
  return cudaSuccess;
}

void relu(const float*, float*, int64_t, cudaStream_t) {}
