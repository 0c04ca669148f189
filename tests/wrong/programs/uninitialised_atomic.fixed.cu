// finds: nothing
//
// The sum begins with zero.
#include <cuda_runtime.h>

__global__ void sum_kernel(float* y) { atomicAdd(y, 1); }

int main() {
  float* y = nullptr;
  cudaMalloc(&y, sizeof *y);
  cudaMemset(y, 0, sizeof *y);
  sum_kernel<<<4, 64>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
