// finds: nothing
//
// A fence stands between the value and its flag.
#include <cuda_runtime.h>

__global__ void hand_over_kernel(volatile float* value, volatile int* flag,
                                 float* y) {
  if (blockIdx.x == 0) {
    *value = 7;
    __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    *y = *value;
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
