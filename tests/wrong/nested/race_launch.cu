// finds: race between grids, says A child may run as soon
//
// One thread launches a child for what all threads of the block have written,
// and does not wait for the other warp before.
#include <cuda_runtime.h>

__global__ void child_kernel(int* array) {
  array[threadIdx.x] *= 2;  // <- here
}

__global__ void parent_kernel(int* array) {
  array[threadIdx.x] = threadIdx.x;  // <- other
  if (threadIdx.x == 0) child_kernel<<<1, 64>>>(array);
}

int main() {
  int* array = nullptr;
  cudaMalloc(&array, 64 * sizeof *array);
  cudaMemset(array, 0, 64 * sizeof *array);
  parent_kernel<<<1, 64>>>(array);
  return cudaDeviceSynchronize() != cudaSuccess;
}
