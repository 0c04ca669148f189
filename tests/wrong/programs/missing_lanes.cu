// finds: missing lanes, block (0,0,0), thread (0,0,0)
//
// The mask names 32 lanes and half of them never call.
#include <cuda_runtime.h>

__global__ void sum_kernel(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  float v = i < n ? x[i] : 0;
  if (i < n) v += __shfl_down_sync(~0u, v, 8);  // <- here
  y[i] = v;
}

int main() {
  const int n = 256;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  cudaMemset(y, 0, n * sizeof *y);
  sum_kernel<<<1, 32>>>(x, y, 16);
  return cudaDeviceSynchronize() != cudaSuccess;
}
