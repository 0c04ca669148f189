// finds: nothing
//
// All that is added to the sum is written.
#include <cuda_runtime.h>

__global__ void sum_kernel(const int* x, int* sum) {
  const int value = x[threadIdx.x];
  atomicAdd(sum, value);
}

int main() {
  int *x = nullptr, *sum = nullptr;
  cudaMalloc(&x, 64 * sizeof *x);
  cudaMalloc(&sum, sizeof *sum);
  cudaMemset(sum, 0, sizeof *sum);
  cudaMemset(x, 0, 64 * sizeof *x);
  sum_kernel<<<1, 64>>>(x, sum);
  return cudaDeviceSynchronize() != cudaSuccess;
}
