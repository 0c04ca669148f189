// finds: nothing
//
// It is made as long as that.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void tell(const int* counts) {
  printf("%d of %lld\n", counts[0], static_cast<long long>(counts[1]));
}

int main() {
  int* counts = nullptr;
  cudaMalloc(&counts, 2 * sizeof *counts);
  cudaMemset(counts, 0, 2 * sizeof *counts);
  tell<<<1, 1>>>(counts);
  return cudaDeviceSynchronize() != cudaSuccess;
}
