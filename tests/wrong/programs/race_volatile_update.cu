// finds: race, says let atomicAdd or its kin do both at once
//
// `volatile` makes no update atomic: what another block adds between the read
// and the write is lost.
#include <cuda_runtime.h>

__global__ void count_kernel(volatile int* count) {
  if (threadIdx.x == 0) *count = *count + 1;  // <- here
}

int main() {
  int* count = nullptr;
  cudaMalloc(&count, sizeof *count);
  cudaMemset(count, 0, sizeof *count);
  count_kernel<<<8, 32>>>(count);
  return cudaDeviceSynchronize() != cudaSuccess;
}
