// finds: nothing
//
// Blocks take turns: each waits until the count is its own number.
#include <cuda_runtime.h>

__global__ void count_kernel(volatile int* count) {
  if (threadIdx.x != 0) return;
  while (*count != static_cast<int>(blockIdx.x)) {
  }
  *count = *count + 1;
}

int main() {
  int* count = nullptr;
  cudaMalloc(&count, sizeof *count);
  cudaMemset(count, 0, sizeof *count);
  count_kernel<<<8, 32>>>(count);
  return cudaDeviceSynchronize() != cudaSuccess;
}
