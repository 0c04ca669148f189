// finds: array overrun, block (0,0,0), thread (255,0,0)
//
// The last thread reads one element too many, and finds the neighbouring array.
#include <cuda_runtime.h>

__global__ void difference_kernel(const float* x, float* y) {
  __shared__ float left[256];
  __shared__ float right[256];
  const int i = threadIdx.x;
  left[i] = x[i];
  right[i] = 2 * x[i];
  __syncthreads();
  y[i] = left[i + 1] - right[255 - i];  // <- here
}

int main() {
  const int n = 256;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  cudaMemset(y, 0, n * sizeof *y);
  difference_kernel<<<1, 256>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
