// finds: nothing
//
// The device's printf knows %llu.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void tell(const float* x, size_t n) {
  if (x[0] == 0)
    printf("%llu elements of %s\n", static_cast<unsigned long long>(n), "x");
}

int main() {
  constexpr size_t kElements = 64;
  float* x = nullptr;
  cudaMalloc(&x, kElements * sizeof *x);
  cudaMemset(x, 0, kElements * sizeof *x);
  tell<<<1, 1>>>(x, kElements);
  return cudaDeviceSynchronize() != cudaSuccess;
}
