// finds: nothing
//
// The place is set before threads of a warp read it.
#include <cuda_runtime.h>

__global__ void first_kernel(const float* x, float* y) {
  const int i = threadIdx.x;
  if (i % 3 != 1) return;
  const float first = x[0];
  y[i] = i == 13 ? first : 1;
}

int main() {
  const int n = 32;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, sizeof *x);
  first_kernel<<<1, n>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
