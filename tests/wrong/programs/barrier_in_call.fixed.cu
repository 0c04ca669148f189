// finds: nothing
//
// Threads without an element come to the barrier in a function, too.
#include <cuda_runtime.h>

__device__ __noinline__ void reverse(const float* x, float* y, int n) {
  __shared__ float tile[256];
  const int i = threadIdx.x;
  if (i < n) tile[i] = x[i];
  __syncthreads();
  if (i < n) y[i] = tile[n - 1 - i];
}

__global__ void reverse_kernel(const float* x, float* y, int n) {
  reverse(x, y, n);
}

int main() {
  const int n = 256;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  cudaMemset(y, 0, n * sizeof *y);
  reverse_kernel<<<1, 256>>>(x, y, 200);
  return cudaDeviceSynchronize() != cudaSuccess;
}
