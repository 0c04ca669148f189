// finds: nothing
//
// What the first kernel gave up is written anew for the second.
#include <cuda_runtime.h>

__global__ void sum_kernel(const float* x, float* sum) {
  float all = 0;
  for (int i = 0; i < 32; ++i) all += x[i];
  *sum = all;
  asm volatile("discard.global.L2 [%0], 128;" ::"l"(x) : "memory");
}

int main() {
  float *x = nullptr, *sums = nullptr;
  cudaMalloc(&x, 32 * sizeof *x);
  cudaMalloc(&sums, 2 * sizeof *sums);
  cudaMemset(x, 0, 32 * sizeof *x);
  sum_kernel<<<1, 1>>>(x, sums);
  cudaMemset(x, 0, 32 * sizeof *x);
  sum_kernel<<<1, 1>>>(x, sums + 1);
  return cudaDeviceSynchronize() != cudaSuccess;
}
