// finds: nothing
//
// Another block sets it.
#include <cuda_runtime.h>

__global__ void wait_kernel(volatile int* flag) {
  if (blockIdx.x == 0) {
    while (*flag == 0) {
    }
  } else {
    flag[0] = 1;
  }
}

int main() {
  int* flag = nullptr;
  cudaMalloc(&flag, 2 * sizeof *flag);
  cudaMemset(flag, 0, 2 * sizeof *flag);
  wait_kernel<<<2, 1>>>(flag);
  return cudaDeviceSynchronize() != cudaSuccess;
}
