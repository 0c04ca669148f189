// finds: nothing
//
// An exchange keeps what somebody has written.
#include <cuda_runtime.h>

__global__ void swap_kernel(int* x, int* y) {
  const int before = atomicExch(x, 5);
  *y = before;
}

int main() {
  int *x = nullptr, *y = nullptr;
  cudaMalloc(&x, sizeof *x);
  cudaMalloc(&y, sizeof *y);
  cudaMemset(x, 0, sizeof *x);
  swap_kernel<<<1, 1>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
