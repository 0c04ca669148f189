// finds: livelock, block (0,0,0), thread (0,0,0)
//
// The thread waits for a flag that nobody sets.
#include <cuda_runtime.h>

__global__ void wait_kernel(volatile int* flag) {
  if (blockIdx.x == 0) {
    while (*flag == 0) {  // <- here
    }
  } else {
    flag[1] = 1;
  }
}

int main() {
  int* flag = nullptr;
  cudaMalloc(&flag, 2 * sizeof *flag);
  cudaMemset(flag, 0, 2 * sizeof *flag);
  wait_kernel<<<2, 1>>>(flag);
  return cudaDeviceSynchronize() != cudaSuccess;
}
