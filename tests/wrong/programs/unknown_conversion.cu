// finds: unknown conversion, says use %u
//
// The device's printf knows h, l and ll. For "%hhd %d" with 45 and 46 an H100
// printed 45 and 1684564005.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void print_kernel(const unsigned char* x, int next) {
  printf("%hhu, ahh, %d\n", x[threadIdx.x], next);  // <- here
}

int main() {
  unsigned char* x = nullptr;
  cudaMalloc(&x, 32);
  cudaMemset(x, 200, 32);
  print_kernel<<<1, 32>>>(x, 7);
  return cudaDeviceSynchronize() != cudaSuccess;
}
