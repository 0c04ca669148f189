// finds: nothing
//
// Both fences concern other blocks.
#include <cuda_runtime.h>

__global__ void hand_over_kernel(float* value, volatile int* flag) {
  if (blockIdx.x == 0) {
    *value = 42;
    __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    __threadfence();
    value[1] = *value;
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
