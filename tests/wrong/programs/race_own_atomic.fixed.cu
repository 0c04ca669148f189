// finds: nothing
//
// The atomic itself answers what was there.
#include <cuda_runtime.h>

__global__ void count_kernel(int* count, int* seen) {
  if (threadIdx.x != 0) return;
  seen[blockIdx.x] = atomicAdd(count, 1) + 1;
}

int main() {
  int *count = nullptr, *seen = nullptr;
  cudaMalloc(&count, sizeof *count);
  cudaMalloc(&seen, 4 * sizeof *seen);
  cudaMemset(count, 0, sizeof *count);
  count_kernel<<<4, 32>>>(count, seen);
  return cudaDeviceSynchronize() != cudaSuccess;
}
