// finds: race, block (0,0,0)
//
// Every third thread of a warp reads the first element, one of them writes it.
// The first reader is the writer itself: the others make it a race.
#include <cuda_runtime.h>

__global__ void first_kernel(float* x, float* y) {
  const int i = threadIdx.x;
  if (i % 3 == 1) y[i] = x[0];  // <- here
  if (i == 1) x[0] = 1;         // <- other
}

int main() {
  const int n = 32;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  cudaMemset(y, 0, n * sizeof *y);
  first_kernel<<<1, n>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
