// finds: race, says needs a __threadfence() before the flag
//
// Volatile stores come in no order for other blocks: the flag may be there
// before the value that it announces.
#include <cuda_runtime.h>

__global__ void hand_over_kernel(volatile float* value, volatile int* flag,
                                 float* y) {
  if (blockIdx.x == 0) {
    *value = 7;  // <- other
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    *y = *value;  // <- here
  }
}

int main() {
  float *value = nullptr, *y = nullptr;
  int* flag = nullptr;
  cudaMalloc(&value, sizeof *value);
  cudaMalloc(&y, sizeof *y);
  cudaMalloc(&flag, sizeof *flag);
  cudaMemset(flag, 0, sizeof *flag);
  hand_over_kernel<<<2, 1>>>(value, flag, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
