// finds: race, block (1,0,0), thread (1,0,0)
//
// Who has waited for a word may read it plainly afterwards, but here another
// thread does.
#include <cuda_runtime.h>

__global__ void hand_over_kernel(int* flag, int* seen) {
  volatile int* polled = flag;
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) *polled = 1;  // <- other
    return;
  }
  if (threadIdx.x == 0) {
    while (*polled == 0) {
    }
    __threadfence();
  } else {
    *seen = *flag;  // <- here
  }
}

int main() {
  int* words = nullptr;
  cudaMalloc(&words, 2 * sizeof *words);
  cudaMemset(words, 0, 2 * sizeof *words);
  hand_over_kernel<<<2, 2>>>(words, words + 1);
  return cudaDeviceSynchronize() != cudaSuccess;
}
