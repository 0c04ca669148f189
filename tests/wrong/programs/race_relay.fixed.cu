// finds: nothing
//
// A warp hands its block's leader a value by a flag within the block, and the
// leader hands it on to another block. A fence for the block is enough within
// it.
#include <cuda_runtime.h>

__global__ void relay_kernel(float* values, int* flag) {
  __shared__ int is_there;
  if (threadIdx.x == 0) is_there = 0;
  __syncthreads();
  if (blockIdx.x == 0) {
    if (threadIdx.x == 32) {
      values[0] = 1;
      __threadfence_block();
      atomicExch_block(&is_there, 1);
    } else if (threadIdx.x == 0) {
      while (atomicAdd_block(&is_there, 0) == 0) {
      }
      __threadfence();
      atomicExch(flag, 1);
    }
  } else if (threadIdx.x == 0) {
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence();
    values[1] = values[0];
  }
}

int main() {
  float* values = nullptr;
  int* flag = nullptr;
  cudaMalloc(&values, 2 * sizeof *values);
  cudaMalloc(&flag, sizeof *flag);
  cudaMemset(flag, 0, sizeof *flag);
  relay_kernel<<<2, 64>>>(values, flag);
  return cudaDeviceSynchronize() != cudaSuccess;
}
