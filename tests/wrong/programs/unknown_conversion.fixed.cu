// finds: nothing
//
// A byte is passed on as an int.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void print_kernel(const unsigned char* x, int next) {
  printf("%u, ahh, %d\n", x[threadIdx.x], next);
}

int main() {
  unsigned char* x = nullptr;
  cudaMalloc(&x, 32);
  cudaMemset(x, 200, 32);
  print_kernel<<<1, 32>>>(x, 7);
  return cudaDeviceSynchronize() != cudaSuccess;
}
