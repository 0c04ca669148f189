// finds: use after free, block (0,0,0), thread (0,0,0)
//
// The input is freed before the kernel runs.
#include <cuda_runtime.h>

__global__ void copy_kernel(const float* x, float* y) {
  y[threadIdx.x] = x[threadIdx.x];  // <- here
}

int main() {
  const int n = 256;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  cudaMemset(y, 0, n * sizeof *y);
  cudaFree(x);
  copy_kernel<<<1, n>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
