// finds: nothing
//
// A volatile read may meet atomics.
#include <cuda_runtime.h>

__global__ void watch_kernel(volatile int* count, int* seen) {
  if (blockIdx.x == 0)
    atomicAdd(const_cast<int*>(count), 1);
  else if (threadIdx.x == 0)
    seen[blockIdx.x - 1] = *count;
}

int main() {
  int *count = nullptr, *seen = nullptr;
  cudaMalloc(&count, sizeof *count);
  cudaMalloc(&seen, 3 * sizeof *seen);
  cudaMemset(count, 0, sizeof *count);
  watch_kernel<<<4, 64>>>(count, seen);
  return cudaDeviceSynchronize() != cudaSuccess;
}
