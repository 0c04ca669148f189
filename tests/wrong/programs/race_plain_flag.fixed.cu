// finds: nothing
//
// Who has waited for a word may read and write it plainly afterwards: that
// comes behind what the waiting has seen.
#include <cuda_runtime.h>

__global__ void hand_over_kernel(int* flag, int* seen) {
  volatile int* polled = flag;
  if (blockIdx.x == 0) {
    *polled = 1;
    return;
  }
  while (*polled == 0) {
  }
  __threadfence();
  *seen = *flag;
  *flag = 0;
}

int main() {
  int* words = nullptr;
  cudaMalloc(&words, 2 * sizeof *words);
  cudaMemset(words, 0, 2 * sizeof *words);
  hand_over_kernel<<<2, 1>>>(words, words + 1);
  return cudaDeviceSynchronize() != cudaSuccess;
}
