// finds: nothing
//
// Each block counts for itself, and adds what it has by a full atomic.
#include <cuda_runtime.h>

__global__ void count_kernel(int* y, int* of_block) {
  atomicAdd_block(&of_block[blockIdx.x], 1);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(y, of_block[blockIdx.x]);
}

int main() {
  int *y = nullptr, *of_block = nullptr;
  cudaMalloc(&y, sizeof *y);
  cudaMalloc(&of_block, 4 * sizeof *of_block);
  cudaMemset(y, 0, sizeof *y);
  cudaMemset(of_block, 0, 4 * sizeof *of_block);
  count_kernel<<<4, 64>>>(y, of_block);
  return cudaDeviceSynchronize() != cudaSuccess;
}
