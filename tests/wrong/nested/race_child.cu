// finds: race between grids, block (0,0,0), says A child may run as soon
//
// A kernel reads what its child writes. It cannot wait for the child, which may
// run at once, later, or when the kernel has ended.
#include <cuda_runtime.h>

__global__ void child_kernel(int* array) {
  array[threadIdx.x] = threadIdx.x + 1;  // <- here
}

__global__ void parent_kernel(int* array) {
  if (threadIdx.x != 0) return;
  child_kernel<<<1, 64>>>(array);
  if (array[5] == 6) ++array[63];  // <- other
}

int main() {
  int* array = nullptr;
  cudaMalloc(&array, 64 * sizeof *array);
  cudaMemset(array, 0, 64 * sizeof *array);
  parent_kernel<<<1, 64>>>(array);
  return cudaDeviceSynchronize() != cudaSuccess;
}
