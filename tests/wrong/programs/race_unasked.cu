// finds: race, block (1,0,0), thread (0,0,0)
//
// Who counts, and does not look at the answer, has not waited for anybody.
#include <cuda_runtime.h>

__global__ void hand_over_kernel(float* value, unsigned* count) {
  if (blockIdx.x == 0) {
    *value = 42;  // <- other
    __threadfence();
    atomicAdd(count, 1);
  } else {
    atomicAdd(count, 1);
    __threadfence();
    value[1] = *value;  // <- here
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
