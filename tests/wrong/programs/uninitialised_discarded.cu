// finds: uninitialised read, block (0,0,0), thread (0,0,0), says nobody has
//
// The first kernel gives up what was written, and the second still wants it.
#include <cuda_runtime.h>

__global__ void sum_kernel(const float* x, float* sum) {
  float all = 0;
  for (int i = 0; i < 32; ++i) all += x[i];  // <- here
  *sum = all;
  asm volatile("discard.global.L2 [%0], 128;" ::"l"(x) : "memory");
}

int main() {
  float *x = nullptr, *sums = nullptr;
  cudaMalloc(&x, 32 * sizeof *x);
  cudaMalloc(&sums, 2 * sizeof *sums);
  cudaMemset(x, 0, 32 * sizeof *x);
  sum_kernel<<<1, 1>>>(x, sums);
  sum_kernel<<<1, 1>>>(x, sums + 1);
  return cudaDeviceSynchronize() != cudaSuccess;
}
