// finds: uninitialised read, block (0,0,0), thread (0,0,0), says It is stored
//
// An exchange may find what nobody has written, but here somebody keeps it.
#include <cuda_runtime.h>

__global__ void swap_kernel(int* x, int* y) {
  const int before = atomicExch(x, 5);  // <- here
  *y = before;                          // <- other
}

int main() {
  int *x = nullptr, *y = nullptr;
  cudaMalloc(&x, sizeof *x);
  cudaMalloc(&y, sizeof *y);
  swap_kernel<<<1, 1>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
