// finds: nothing
//
// They give zero.
#include <cuda_runtime.h>

__global__ void last_kernel(const float* x, float* y, int n) {
  float mine = 0;
  if (threadIdx.x < n) mine = x[threadIdx.x];
  y[threadIdx.x] = __shfl_down_sync(0xffffffff, mine, 1);
}

int main() {
  const int n = 20;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, 32 * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  last_kernel<<<1, 32>>>(x, y, n);
  return cudaDeviceSynchronize() != cudaSuccess;
}
