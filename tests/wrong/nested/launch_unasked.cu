// finds: error, says child_kernel: a block of (2048, 1, 1)
//
// A launch in a kernel fails, and nobody asks.
#include <cuda_runtime.h>

__global__ void child_kernel(int* array) { array[threadIdx.x % 64] = 1; }

__global__ void parent_kernel(int* array) {
  if (threadIdx.x == 0) child_kernel<<<1, 2048>>>(array);
}

int main() {
  int* array = nullptr;
  cudaMalloc(&array, 64 * sizeof *array);
  cudaMemset(array, 0, 64 * sizeof *array);
  parent_kernel<<<1, 64>>>(array);
  return cudaDeviceSynchronize() != cudaSuccess;
}
