// finds: nothing
//
// A barrier comes before the launch.
#include <cuda_runtime.h>

__global__ void child_kernel(int* array) { array[threadIdx.x] *= 2; }

__global__ void parent_kernel(int* array) {
  array[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) child_kernel<<<1, 64>>>(array);
}

int main() {
  int* array = nullptr;
  cudaMalloc(&array, 64 * sizeof *array);
  cudaMemset(array, 0, 64 * sizeof *array);
  parent_kernel<<<1, 64>>>(array);
  return cudaDeviceSynchronize() != cudaSuccess;
}
