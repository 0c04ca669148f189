// finds: note same value, block (0,0,0), thread (1,0,0)
//
// Every thread that finds something says so at the same place: harmless, but
// worth knowing.
#include <cuda_runtime.h>

__global__ void any_kernel(const float* x, int* found) {
  const bool here = x[threadIdx.x] == 0;
  if (here) *found = 1;  // <- here
}

int main() {
  float* x = nullptr;
  int* found = nullptr;
  cudaMalloc(&x, 32 * sizeof *x);
  cudaMalloc(&found, sizeof *found);
  cudaMemset(x, 0, 32 * sizeof *x);
  cudaMemset(found, 0, sizeof *found);
  any_kernel<<<1, 32>>>(x, found);
  return cudaDeviceSynchronize() != cudaSuccess;
}
