// finds: race, block (1,0,0), thread (0,0,0)
//
// Who has seen another block's flag needs a fence that concerns other blocks.
#include <cuda_runtime.h>

__global__ void hand_over_kernel(float* value, volatile int* flag) {
  if (blockIdx.x == 0) {
    *value = 42;  // <- other
    __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    __threadfence_block();
    value[1] = *value;  // <- here
  }
}

int main() {
  float* value = nullptr;
  int* flag = nullptr;
  cudaMalloc(&value, 2 * sizeof *value);
  cudaMalloc(&flag, sizeof *flag);
  cudaMemset(flag, 0, sizeof *flag);
  hand_over_kernel<<<2, 1>>>(value, flag);
  return cudaDeviceSynchronize() != cudaSuccess;
}
