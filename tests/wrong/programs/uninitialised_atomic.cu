// finds: uninitialised read, block (0,0,0), thread (0,0,0)
//
// The sum begins with whatever the memory held.
#include <cuda_runtime.h>

__global__ void sum_kernel(float* y) {
  atomicAdd(y, 1);  // <- here
}

int main() {
  float* y = nullptr;
  cudaMalloc(&y, sizeof *y);
  sum_kernel<<<4, 64>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
