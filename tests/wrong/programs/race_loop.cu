// finds: race, block (0,0,0)
//
// A step of the reduction may begin before the last one has ended.
#include <cuda_runtime.h>

__global__ void sum_kernel(const float* x, float* y) {
  __shared__ float partial[256];
  const int i = threadIdx.x;
  partial[i] = x[i];
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (i < step) partial[i] += partial[i + step];  // <- here
  }
  if (i == 0) *y = partial[0];
}

int main() {
  const int n = 256;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  cudaMemset(y, 0, n * sizeof *y);
  sum_kernel<<<1, 256>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
