// finds: race, block (1,0,0), thread (0,0,0)
//
// In place, one block overwrites what its neighbour reads. No barrier orders
// blocks.
#include <cuda_runtime.h>

__global__ void shift_kernel(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float next = x[(i + 1) % n];  // <- other
  __syncthreads();
  y[i] = next;  // <- here
}

int main() {
  const int n = 1024;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  cudaMemset(y, 0, n * sizeof *y);
  shift_kernel<<<n / 256, 256>>>(x, x, n);
  return cudaDeviceSynchronize() != cudaSuccess;
}
