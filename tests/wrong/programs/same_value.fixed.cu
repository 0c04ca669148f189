// finds: nothing
//
// One thread of the warp says it for all.
#include <cuda_runtime.h>

__global__ void any_kernel(const float* x, int* found) {
  const bool here = x[threadIdx.x] == 0;
  if (__any_sync(~0u, here) && threadIdx.x == 0) *found = 1;
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
