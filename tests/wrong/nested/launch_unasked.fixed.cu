// finds: nothing
//
// A block has at most 1024 threads.
#include <cuda_runtime.h>

__global__ void child_kernel(int* array) {
  if (blockIdx.x == 0) array[threadIdx.x % 64] = 1;
}

__global__ void parent_kernel(int* array) {
  if (threadIdx.x == 0) child_kernel<<<2, 64>>>(array);
}

int main() {
  int* array = nullptr;
  cudaMalloc(&array, 64 * sizeof *array);
  cudaMemset(array, 0, 64 * sizeof *array);
  parent_kernel<<<1, 64>>>(array);
  return cudaDeviceSynchronize() != cudaSuccess;
}
