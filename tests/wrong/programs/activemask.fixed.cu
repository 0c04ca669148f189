// finds: nothing
//
// The mask is computed before the branch, by all lanes.
#include <cuda_runtime.h>

__global__ void sum_kernel(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  const unsigned mask = __ballot_sync(~0u, i < n);
  if (i < n) {
    const float v = x[i];
    y[i] = v + __shfl_sync(mask, v, 0);
  }
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
