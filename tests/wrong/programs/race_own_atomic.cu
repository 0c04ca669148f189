// finds: race, block (1,0,0), thread (0,0,0)
//
// Each block adds, and then reads plainly what all have added. That it has
// added itself does not order it behind the others.
#include <cuda_runtime.h>

__global__ void count_kernel(int* count, int* seen) {
  if (threadIdx.x != 0) return;
  atomicAdd(count, 1);        // <- other
  seen[blockIdx.x] = *count;  // <- here
}

int main() {
  int *count = nullptr, *seen = nullptr;
  cudaMalloc(&count, sizeof *count);
  cudaMalloc(&seen, 4 * sizeof *seen);
  cudaMemset(count, 0, sizeof *count);
  count_kernel<<<4, 32>>>(count, seen);
  return cudaDeviceSynchronize() != cudaSuccess;
}
