// finds: out of bounds, block (3,0,0), thread (232,0,0)
//
// The last block has more threads than there are elements left.
#include <cuda_runtime.h>

__global__ void copy_kernel(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i];  // <- here
}

int main() {
  const int n = 1000;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  cudaMemset(y, 0, n * sizeof *y);
  copy_kernel<<<4, 256>>>(x, y, n);
  return cudaDeviceSynchronize() != cudaSuccess;
}
