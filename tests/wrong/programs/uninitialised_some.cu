// finds: uninitialised read, block (0,0,0), thread (13,0,0), says It is stored
//
// Every third thread of a warp reads a place that nobody has written. All but
// one of them drop what they have read.
#include <cuda_runtime.h>

__global__ void first_kernel(const float* x, float* y) {
  const int i = threadIdx.x;
  if (i % 3 != 1) return;
  const float first = x[0];    // <- here
  y[i] = i == 13 ? first : 1;  // <- other
}

int main() {
  const int n = 32;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  first_kernel<<<1, n>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
