// finds: race
//
// Nobody looks whether the compare-and-swap has failed: most increments are
// lost.
#include <cuda_runtime.h>

__global__ void count_kernel(int* count) {
  const int old = *count;          // <- here
  atomicCAS(count, old, old + 1);  // <- other
}

int main() {
  int* count = nullptr;
  cudaMalloc(&count, sizeof *count);
  cudaMemset(count, 0, sizeof *count);
  count_kernel<<<2, 64>>>(count);
  return cudaDeviceSynchronize() != cudaSuccess;
}
