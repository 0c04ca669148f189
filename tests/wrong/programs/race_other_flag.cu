// finds: race, block (2,0,0), thread (0,0,0)
//
// Block 2 waits for block 0, and reads what block 1 hands over, too.
#include <cuda_runtime.h>

__global__ void hand_over_kernel(float* values, volatile int* flags) {
  const int block = blockIdx.x;
  if (block < 2) {
    values[block] = block;  // <- other
    __threadfence();
    flags[block] = 1;
  } else {
    while (flags[0] == 0) {
    }
    __threadfence();
    values[2] = values[0];
    values[3] = values[1];  // <- here
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
