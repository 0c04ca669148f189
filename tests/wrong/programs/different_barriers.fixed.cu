// finds: nothing
//
// Both wait at the same one.
#include <cuda_runtime.h>

__global__ void halves_kernel(float* y) {
  if (threadIdx.x < 32) {
    y[threadIdx.x] = 1;
  } else {
    y[threadIdx.x] = 2;
  }
  __syncthreads();
  y[63 - threadIdx.x] += 1;
}

int main() {
  const int n = 256;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  cudaMemset(y, 0, n * sizeof *y);
  halves_kernel<<<1, 64>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
