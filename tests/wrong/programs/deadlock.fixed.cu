// finds: nothing
//
// All meet at both.
#include <cuda_runtime.h>

__global__ void crossed_kernel(float* y) {
  if (threadIdx.x % 32 < 16) {
    y[threadIdx.x] = 1;
  } else {
    y[threadIdx.x] = 2;
  }
  __syncwarp();
  __syncthreads();
}

int main() {
  const int n = 256;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  cudaMemset(y, 0, n * sizeof *y);
  crossed_kernel<<<1, 64>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
