// finds: note barrier without all, block (0,0,0), thread (200,0,0)
//
// Threads without an element return from a function, and end, before the
// barrier in it that the others meet at.
#include <cuda_runtime.h>

__device__ __noinline__ void reverse(const float* x, float* y, int n) {
  __shared__ float tile[256];
  const int i = threadIdx.x;
  if (i >= n) return;
  tile[i] = x[i];
  __syncthreads();  // <- here
  y[i] = tile[n - 1 - i];
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
