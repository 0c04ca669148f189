// finds: race, block (2,0,0), thread (0,0,0)
//
// Block 1 has learned from block 0's first flag, and hands that on. What block
// 0 announces by its second flag, nobody has waited for.
#include <cuda_runtime.h>

__device__ void set(int* flag) {
  __threadfence();
  atomicExch(flag, 1);
}

__device__ void wait_for(int* flag) {
  while (atomicAdd(flag, 0) == 0) {
  }
  __threadfence();
}

__global__ void relay_kernel(float* values, int* flags) {
  if (blockIdx.x == 0) {
    values[0] = 1;
    set(&flags[0]);
    values[1] = 2;  // <- other
    set(&flags[1]);
  } else if (blockIdx.x == 1) {
    wait_for(&flags[0]);
    set(&flags[2]);
  } else {
    wait_for(&flags[2]);
    values[2] = values[0] + values[1];  // <- here
  }
}

int main() {
  float* values = nullptr;
  int* flags = nullptr;
  cudaMalloc(&values, 3 * sizeof *values);
  cudaMalloc(&flags, 3 * sizeof *flags);
  cudaMemset(flags, 0, 3 * sizeof *flags);
  relay_kernel<<<3, 1>>>(values, flags);
  return cudaDeviceSynchronize() != cudaSuccess;
}
