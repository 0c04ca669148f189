// finds: nothing
//
// Both halves of a number of 128 bits are written.
#include <cuda_runtime.h>

__global__ void add_kernel(const unsigned long long* x, unsigned long long* y) {
  const unsigned long long low = x[0];
  const unsigned __int128 a = (unsigned __int128)x[1] << 64 | low;
  y[0] = (a + ((unsigned __int128)x[1] << 64 | x[1])) >> 64;
}

int main() {
  unsigned long long *x = nullptr, *y = nullptr;
  cudaMalloc(&x, 2 * sizeof *x);
  cudaMalloc(&y, sizeof *y);
  cudaMemset(x, 1, 2 * sizeof *x);
  add_kernel<<<1, 1>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
