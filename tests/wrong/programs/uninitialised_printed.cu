// finds: uninitialised read, block (0,0,0), thread (0,0,0), says It is printed
//
// The result is printed before anybody has computed it.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void print_kernel(const int* y) {
  const int value = y[threadIdx.x];     // <- here
  printf("the result is %d\n", value);  // <- other
}

int main() {
  int* y = nullptr;
  cudaMalloc(&y, sizeof *y);
  print_kernel<<<1, 1>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
