// finds: nothing
//
// The result is printed once somebody has written it.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void print_kernel(const int* y) {
  const int value = y[threadIdx.x];
  printf("the result is %d\n", value);
}

int main() {
  int* y = nullptr;
  cudaMalloc(&y, sizeof *y);
  cudaMemset(y, 0, sizeof *y);
  print_kernel<<<1, 1>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
