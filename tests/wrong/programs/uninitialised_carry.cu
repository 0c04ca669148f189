// finds: uninitialised read, block (0,0,0), thread (0,0,0), says It is stored
//
// The low half of a number of 128 bits is missing: it hands a carry to the high
// half, which alone is stored.
#include <cuda_runtime.h>

__global__ void add_kernel(const unsigned long long* x, unsigned long long* y) {
  const unsigned long long low = x[0];  // <- here
  const unsigned __int128 a = (unsigned __int128)x[1] << 64 | low;
  y[0] = (a + ((unsigned __int128)x[1] << 64 | x[1])) >> 64;  // <- other
}

int main() {
  unsigned long long *x = nullptr, *y = nullptr;
  cudaMalloc(&x, 2 * sizeof *x);
  cudaMalloc(&y, sizeof *y);
  cudaMemset(x + 1, 1, sizeof *x);
  add_kernel<<<1, 1>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
