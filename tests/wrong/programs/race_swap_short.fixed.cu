// finds: nothing
//
// Each turn reads the number anew, and the swap fails if that is old.
#include <cuda_runtime.h>

__device__ unsigned short after(unsigned short x) { return x + 1; }

__global__ void count_kernel(unsigned short* count) {
  unsigned short old;
  do {
    old = *count;
  } while (atomicCAS(count, old, after(old)) != old);
}

int main() {
  unsigned short* count = nullptr;
  cudaMalloc(&count, 2 * sizeof *count);
  cudaMemset(count, 0, 2 * sizeof *count);
  count_kernel<<<2, 64>>>(count);
  return cudaDeviceSynchronize() != cudaSuccess;
}
