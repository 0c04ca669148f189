// finds: uninitialised read, says conversion needs an argument of its own size
//
// A count is printed as if it had 64 bits.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void tell(const int* counts) {
  printf("%d of %lld\n", counts[0], counts[1]);  // <- here
}

int main() {
  int* counts = nullptr;
  cudaMalloc(&counts, 2 * sizeof *counts);
  cudaMemset(counts, 0, 2 * sizeof *counts);
  tell<<<1, 1>>>(counts);
  return cudaDeviceSynchronize() != cudaSuccess;
}
