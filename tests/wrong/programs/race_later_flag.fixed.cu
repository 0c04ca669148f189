// finds: nothing
//
// Block 1 has learned from both of block 0's flags, and hands that on.
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
    values[1] = 2;
    set(&flags[1]);
  } else if (blockIdx.x == 1) {
    wait_for(&flags[0]);
    wait_for(&flags[1]);
    set(&flags[2]);
  } else {
    wait_for(&flags[2]);
    values[2] = values[0] + values[1];
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
