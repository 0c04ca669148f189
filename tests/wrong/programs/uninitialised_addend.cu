// finds: uninitialised read, block (0,0,0), thread (50,0,0), says An atomic
// takes it
//
// What is added to the sum is not all written.
#include <cuda_runtime.h>

__global__ void sum_kernel(const int* x, int* sum) {
  const int value = x[threadIdx.x];  // <- here
  atomicAdd(sum, value);             // <- other
}

int main() {
  int *x = nullptr, *sum = nullptr;
  cudaMalloc(&x, 64 * sizeof *x);
  cudaMalloc(&sum, sizeof *sum);
  cudaMemset(sum, 0, sizeof *sum);
  cudaMemset(x, 0, 50 * sizeof *x);
  sum_kernel<<<1, 64>>>(x, sum);
  return cudaDeviceSynchronize() != cudaSuccess;
}
