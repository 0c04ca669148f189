// finds: nothing
//
// All lanes that vote look at what is written.
#include <cuda_runtime.h>

__global__ void any_kernel(const int* x, int* y) {
  const int mine = x[threadIdx.x];
  if (__any_sync(~0u, mine == 1234567)) {
    atomicExch(&y[threadIdx.x], 1);
    __threadfence();
    atomicExch(&y[threadIdx.x], 2);
  }
}

int main() {
  int *x = nullptr, *y = nullptr;
  cudaMalloc(&x, 32 * sizeof *x);
  cudaMalloc(&y, 32 * sizeof *y);
  cudaMemset(x, 0, 32 * sizeof *x);
  any_kernel<<<1, 32>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
