// finds: race
//
// The number that is swapped in was read before the loop, and is old where the
// swap succeeds.
#include <cuda_runtime.h>

__device__ unsigned short after(unsigned short x) { return x + 1; }

__global__ void count_kernel(unsigned short* count) {
  const unsigned short next = after(*count);  // <- here
  unsigned short old = 0;
  while (true) {
    const unsigned short seen = atomicCAS(count, old, next);  // <- other
    if (seen == old) break;
    old = seen;
  }
}

int main() {
  unsigned short* count = nullptr;
  cudaMalloc(&count, 2 * sizeof *count);
  cudaMemset(count, 0, 2 * sizeof *count);
  count_kernel<<<2, 64>>>(count);
  return cudaDeviceSynchronize() != cudaSuccess;
}
