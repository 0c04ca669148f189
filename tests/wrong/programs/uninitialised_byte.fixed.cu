// finds: nothing
//
// Of the last word, only three bytes are written, and only one is used.
#include <cuda_runtime.h>

#include <cstdint>

__global__ void last_kernel(const uint32_t* x, int* y) {
  const uint32_t word = x[threadIdx.x];
  y[threadIdx.x] = 2 * (word >> 8 & 255);
}

int main() {
  uint32_t* x = nullptr;
  int* y = nullptr;
  cudaMalloc(&x, 8 * sizeof *x);
  cudaMalloc(&y, 8 * sizeof *y);
  cudaMemset(x, 0, 31);
  last_kernel<<<1, 8>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
