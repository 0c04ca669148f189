// finds: nothing
//
// One thread is chosen.
#include <cuda_runtime.h>

__global__ void last_kernel(float* y) {
  if (threadIdx.x == 31) *y = threadIdx.x;
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
