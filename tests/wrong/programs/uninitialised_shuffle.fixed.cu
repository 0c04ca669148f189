// finds: nothing
//
// A warp adds up 32 elements, and all of them are written.
#include <cuda_runtime.h>

__global__ void sum_kernel(const float* x, float* y) {
  float sum = x[threadIdx.x];
  for (int k = 16; k > 0; k /= 2) sum += __shfl_down_sync(~0u, sum, k);
  if (threadIdx.x == 0) *y = sum;
}

int main() {
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, 32 * sizeof *x);
  cudaMalloc(&y, sizeof *y);
  cudaMemset(x, 0, 32 * sizeof *x);
  sum_kernel<<<1, 32>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
