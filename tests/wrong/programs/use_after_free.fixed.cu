// finds: nothing
//
// The input is freed when the kernel has ended.
#include <cuda_runtime.h>

__global__ void copy_kernel(const float* x, float* y) {
  y[threadIdx.x] = x[threadIdx.x];
}

int main() {
  const int n = 256;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  cudaMemset(y, 0, n * sizeof *y);
  copy_kernel<<<1, n>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  return cudaDeviceSynchronize() != cudaSuccess;
}
