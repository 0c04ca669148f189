// finds: race between grids, says same stream of the same block
//
// Two children in streams of their own: they may run at the same time.
#include <cuda_runtime.h>

__global__ void add_kernel(int* array, int n) {
  array[threadIdx.x] += n;  // <- here
}

__global__ void double_kernel(int* array) {
  array[threadIdx.x] *= 2;  // <- other
}

__global__ void parent_kernel(int* array) {
  cudaStream_t one, other;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  double_kernel<<<1, 64, 0, one>>>(array);
  add_kernel<<<1, 64, 0, other>>>(array, 1);
  cudaStreamDestroy(one);
  cudaStreamDestroy(other);
}

int main() {
  int* array = nullptr;
  cudaMalloc(&array, 64 * sizeof *array);
  cudaMemset(array, 0, 64 * sizeof *array);
  parent_kernel<<<1, 1>>>(array);
  return cudaDeviceSynchronize() != cudaSuccess;
}
