// finds: nothing
//
// A tail launch begins when the kernel that launches it has ended, with all
// that it has launched before.
#include <cuda_runtime.h>

__global__ void child_kernel(int* array) {
  array[threadIdx.x] = threadIdx.x + 1;
}

__global__ void check_kernel(int* array) {
  if (array[5] == 6) ++array[63];
}

__global__ void parent_kernel(int* array) {
  if (threadIdx.x != 0) return;
  child_kernel<<<1, 64>>>(array);
  check_kernel<<<1, 1, 0, cudaStreamTailLaunch>>>(array);
}

int main() {
  int* array = nullptr;
  cudaMalloc(&array, 64 * sizeof *array);
  cudaMemset(array, 0, 64 * sizeof *array);
  parent_kernel<<<1, 64>>>(array);
  return cudaDeviceSynchronize() != cudaSuccess;
}
