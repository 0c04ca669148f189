// finds: bad free, block (0,0,0), thread (0,0,0)
//
// A kernel frees what the host has allocated, and may only free its own.
#include <cuda_runtime.h>

__global__ void drop_kernel(float* x) {
  if (threadIdx.x == 0) free(x);  // <- here
}

int main() {
  float* x = nullptr;
  cudaMalloc(&x, 256 * sizeof *x);
  drop_kernel<<<1, 32>>>(x);
  return cudaDeviceSynchronize() != cudaSuccess;
}
