// finds: race, block (1,0,0)
//
// A whole array is set to zero by the block that adds to it first.
#include <cuda_runtime.h>

__global__ void sums_kernel(const float* x, float* y) {
  if (blockIdx.x == 0) y[threadIdx.x] = 0;  // <- other
  __syncthreads();
  const float value = x[blockIdx.x * blockDim.x + threadIdx.x];
  atomicAdd(&y[threadIdx.x], value);  // <- here
}

int main() {
  const int n = 256;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, 64 * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  sums_kernel<<<n / 64, 64>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
