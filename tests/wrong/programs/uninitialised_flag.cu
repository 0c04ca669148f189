// finds: race, says a flag needs a value before the kernel begins
//
// Nobody has set the flag to zero. The block that waits for it may find any
// number there, and go on too early.
#include <cuda_runtime.h>

__global__ void hand_over_kernel(float* value, volatile int* flag, float* y) {
  if (blockIdx.x == 0) {
    *value = 7;
    __threadfence();
    *flag = 1;  // <- other
  } else {
    while (*flag != 1) {  // <- here
    }
    __threadfence();
    *y = *value;
  }
}

int main() {
  float *value = nullptr, *y = nullptr;
  int* flag = nullptr;
  cudaMalloc(&value, sizeof *value);
  cudaMalloc(&y, sizeof *y);
  cudaMalloc(&flag, sizeof *flag);
  hand_over_kernel<<<2, 1>>>(value, flag, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
