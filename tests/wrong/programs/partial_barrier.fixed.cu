// finds: nothing
//
// All threads reach the barrier.
#include <cuda_runtime.h>

__global__ void partial_kernel(float* y, int n) {
  const int i = threadIdx.x;
  if (i < n) {
    y[i] = 1;
  }
  __syncthreads();
  y[i] += 1;
}

int main() {
  const int n = 256;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  cudaMemset(y, 0, n * sizeof *y);
  partial_kernel<<<1, 64>>>(y, 40);
  return cudaDeviceSynchronize() != cudaSuccess;
}
