// finds: nothing
//
// A fence stands before each of two flags: who waits for the first one sees the
// value, and who waits for the second one sees more.
#include <cuda_runtime.h>

__global__ void hand_over_kernel(float* value, volatile int* flags) {
  if (blockIdx.x == 0) {
    __threadfence();
    *value = 42;
    __threadfence();
    flags[0] = 1;
    __threadfence();
    flags[1] = 1;
  } else {
    while (flags[0] == 0) {
    }
    __threadfence();
    value[1] = *value;
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
