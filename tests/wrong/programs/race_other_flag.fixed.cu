// finds: nothing
//
// It waits for both.
#include <cuda_runtime.h>

__global__ void hand_over_kernel(float* values, volatile int* flags) {
  const int block = blockIdx.x;
  if (block < 2) {
    values[block] = block;
    __threadfence();
    flags[block] = 1;
  } else {
    while (flags[0] == 0 || flags[1] == 0) {
    }
    __threadfence();
    values[2] = values[0];
    values[3] = values[1];
  }
}

int main() {
  float* values = nullptr;
  int* flags = nullptr;
  cudaMalloc(&values, 4 * sizeof *values);
  cudaMalloc(&flags, 2 * sizeof *flags);
  cudaMemset(flags, 0, 2 * sizeof *flags);
  hand_over_kernel<<<3, 1>>>(values, flags);
  return cudaDeviceSynchronize() != cudaSuccess;
}
