// finds: out of bounds, says %s wants the address of a string
//
// The device's printf knows no %zu, so %s gets the number that was meant for
// it.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void tell(const float* x, size_t n) {
  if (x[0] == 0) printf("%zu elements of %s\n", n, "x");  // <- here
}

int main() {
  constexpr size_t kElements = 64;
  float* x = nullptr;
  cudaMalloc(&x, kElements * sizeof *x);
  cudaMemset(x, 0, kElements * sizeof *x);
  tell<<<1, 1>>>(x, kElements);
  return cudaDeviceSynchronize() != cudaSuccess;
}
