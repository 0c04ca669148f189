// finds: nothing
//
// Who has failed tries again.
#include <cuda_runtime.h>

__global__ void count_kernel(int* count) {
  int old = *count, seen = old;
  do {
    old = seen;
    seen = atomicCAS(count, old, old + 1);
  } while (seen != old);
}

int main() {
  int* count = nullptr;
  cudaMalloc(&count, sizeof *count);
  cudaMemset(count, 0, sizeof *count);
  count_kernel<<<2, 64>>>(count);
  return cudaDeviceSynchronize() != cudaSuccess;
}
