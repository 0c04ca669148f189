// finds: race, block (1,0,0), thread (0,0,0)
//
// A plain read beside the atomics of others: what it finds is anybody's guess,
// and the compiler may read once and for all.
#include <cuda_runtime.h>

__global__ void watch_kernel(int* count, int* seen) {
  if (blockIdx.x == 0)
    atomicAdd(count, 1);  // <- other
  else if (threadIdx.x == 0)
    seen[blockIdx.x - 1] = *count;  // <- here
}

int main() {
  int *count = nullptr, *seen = nullptr;
  cudaMalloc(&count, sizeof *count);
  cudaMalloc(&seen, 3 * sizeof *seen);
  cudaMemset(count, 0, sizeof *count);
  watch_kernel<<<4, 64>>>(count, seen);
  return cudaDeviceSynchronize() != cudaSuccess;
}
