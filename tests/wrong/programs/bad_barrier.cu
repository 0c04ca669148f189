// finds: bad barrier, block (0,0,0), thread (0,0,0)
//
// A block has the barriers 0 to 15, and this one takes number 16.
#include <cuda_runtime.h>

__global__ void wait_kernel(int first) {
  const int number = first + threadIdx.x / 32;
  asm volatile("bar.sync %0, 32;" ::"r"(number) : "memory");  // <- here
}

int main() {
  wait_kernel<<<1, 32>>>(16);
  return cudaDeviceSynchronize() != cudaSuccess;
}
