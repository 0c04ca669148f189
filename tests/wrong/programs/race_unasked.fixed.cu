// finds: nothing
//
// The second block waits until the first has counted.
#include <cuda_runtime.h>

__global__ void hand_over_kernel(float* value, unsigned* count) {
  if (blockIdx.x == 0) {
    *value = 42;
    __threadfence();
    atomicAdd(count, 1);
  } else {
    while (atomicAdd(count, 0) == 0) {
    }
    __threadfence();
    value[1] = *value;
  }
}

int main() {
  float* value = nullptr;
  unsigned* count = nullptr;
  cudaMalloc(&value, 2 * sizeof *value);
  cudaMalloc(&count, sizeof *count);
  cudaMemset(count, 0, sizeof *count);
  hand_over_kernel<<<2, 1>>>(value, count);
  return cudaDeviceSynchronize() != cudaSuccess;
}
