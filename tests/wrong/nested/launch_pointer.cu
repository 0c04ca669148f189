// finds: bad argument, block (0,0,0), thread (0,0,0), says a pointer to shared
// memory
//
// A child gets a pointer to its parent's shared memory, which it does not have.
#include <cuda_runtime.h>

__global__ void child_kernel(int* from, int* to) {
  to[threadIdx.x] = from[threadIdx.x];
}

__global__ void parent_kernel(int* array) {
  __shared__ int squares[64];
  squares[threadIdx.x] = threadIdx.x * threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) child_kernel<<<1, 64>>>(squares, array);  // <- here
}

int main() {
  int* array = nullptr;
  cudaMalloc(&array, 64 * sizeof *array);
  cudaMemset(array, 0, 64 * sizeof *array);
  parent_kernel<<<1, 64>>>(array);
  return cudaDeviceSynchronize() != cudaSuccess;
}
