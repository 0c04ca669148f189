// finds: nothing
//
// An atomic adds in one step.
#include <cuda_runtime.h>

__global__ void count_kernel(int* count) { atomicAdd(count, threadIdx.x); }

int main() {
  int* count = nullptr;
  cudaMalloc(&count, sizeof *count);
  cudaMemset(count, 0, sizeof *count);
  count_kernel<<<1, 64>>>(count);
  return cudaDeviceSynchronize() != cudaSuccess;
}
