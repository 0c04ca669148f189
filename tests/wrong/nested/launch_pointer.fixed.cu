// finds: nothing
//
// What a child is to see lies in global memory.
#include <cuda_runtime.h>

__global__ void child_kernel(int* from, int* to) {
  to[threadIdx.x] = from[threadIdx.x];
}

__global__ void parent_kernel(int* array) {
  __shared__ int* squares;
  if (threadIdx.x == 0) cudaMalloc(&squares, 64 * sizeof *squares);
  __syncthreads();
  squares[threadIdx.x] = threadIdx.x * threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) child_kernel<<<1, 64>>>(squares, array);
}

int main() {
  int* array = nullptr;
  cudaMalloc(&array, 64 * sizeof *array);
  cudaMemset(array, 0, 64 * sizeof *array);
  parent_kernel<<<1, 64>>>(array);
  return cudaDeviceSynchronize() != cudaSuccess;
}
