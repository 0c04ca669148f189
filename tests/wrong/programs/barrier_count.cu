// finds: bad barrier, block (0,0,0), thread (0,0,0), says waits for 96 threads
//
// A barrier for three warps, in a block that has two.
#include <cuda_runtime.h>

__global__ void copy_kernel(const float* x, float* y, int threads) {
  __shared__ float held[64];
  held[threadIdx.x] = x[threadIdx.x];
  asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");  // <- here
  y[threadIdx.x] = held[63 - threadIdx.x];
}

int main() {
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, 64 * sizeof *x);
  cudaMalloc(&y, 64 * sizeof *y);
  cudaMemset(x, 0, 64 * sizeof *x);
  copy_kernel<<<1, 64>>>(x, y, 96);
  return cudaDeviceSynchronize() != cudaSuccess;
}
