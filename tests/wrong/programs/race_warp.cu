// finds: race, block (0,0,0)
//
// Lanes of a warp do not run in step since Volta, volatile or not.
#include <cuda_runtime.h>

__device__ void warp_sum(volatile float* partial, int lane) {
  float v = partial[lane];
  for (int step = 16; step > 0; step /= 2) {
    v += partial[lane + step];  // <- other
    partial[lane] = v;          // <- here
  }
}

__global__ void sum_kernel(const float* x, float* y) {
  __shared__ float partial[64];
  const int i = threadIdx.x;
  partial[i] = x[i];
  partial[i + 32] = 0;
  __syncthreads();
  warp_sum(partial, i);
  if (i == 0) *y = partial[0];
}

int main() {
  const int n = 256;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  cudaMemset(y, 0, n * sizeof *y);
  sum_kernel<<<1, 32>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
