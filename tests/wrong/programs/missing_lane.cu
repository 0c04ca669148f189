// finds: missing lane, block (0,0,0), thread (12,0,0)
//
// A lane asks another one for its value, which has ended.
#include <cuda_runtime.h>

__global__ void sum_kernel(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  float v = i < n ? x[i] : 0;
  v += __shfl_down_sync(~0u, v, 8);  // <- here
  if (i < n) y[i] = v;
}

int main() {
  const int n = 256;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  cudaMemset(y, 0, n * sizeof *y);
  sum_kernel<<<1, 32>>>(x, y, 20);
  return cudaDeviceSynchronize() != cudaSuccess;
}
