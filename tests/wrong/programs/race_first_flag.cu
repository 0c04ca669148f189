// finds: race, block (1,0,0), thread (0,0,0)
//
// The fence comes behind the first of two flags, and who waits for that one
// may see it before the value. An earlier fence does not help.
#include <cuda_runtime.h>

__global__ void hand_over_kernel(float* value, volatile int* flags) {
  if (blockIdx.x == 0) {
    __threadfence();
    *value = 42;  // <- other
    flags[0] = 1;
    __threadfence();
    flags[1] = 1;
  } else {
    while (flags[0] == 0) {
    }
    __threadfence();
    value[1] = *value;  // <- here
  }
}

int main() {
  float* value = nullptr;
  int* flags = nullptr;
  cudaMalloc(&value, 2 * sizeof *value);
  cudaMalloc(&flags, 2 * sizeof *flags);
  cudaMemset(flags, 0, 2 * sizeof *flags);
  hand_over_kernel<<<2, 1>>>(value, flags);
  return cudaDeviceSynchronize() != cudaSuccess;
}
