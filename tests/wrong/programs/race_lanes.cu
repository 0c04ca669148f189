// finds: race, block (0,0,0), thread (1,0,0)
//
// All lanes store to one place by one instruction; whose value stays?
#include <cuda_runtime.h>

__global__ void last_kernel(float* y) {
  *y = threadIdx.x;  // <- here
}

int main() {
  const int n = 256;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  cudaMemset(y, 0, n * sizeof *y);
  last_kernel<<<1, 32>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
