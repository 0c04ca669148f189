// finds: uninitialised read, block (0,0,0), thread (7,0,0), says It is stored
//
// Of the last word, only three bytes are written.
#include <cuda_runtime.h>

#include <cstdint>

__global__ void last_kernel(const uint32_t* x, int* y) {
  const uint32_t word = x[threadIdx.x];  // <- here
  y[threadIdx.x] = 2 * (word >> 24);     // <- other
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
