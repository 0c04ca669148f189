// finds: nothing
//
// A launch of its own sets it to zero.
#include <cuda_runtime.h>

__global__ void zero_kernel(float* y) { y[threadIdx.x] = 0; }

__global__ void sums_kernel(const float* x, float* y) {
  const float value = x[blockIdx.x * blockDim.x + threadIdx.x];
  atomicAdd(&y[threadIdx.x], value);
}

int main() {
  const int n = 256;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, 64 * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  zero_kernel<<<1, 64>>>(y);
  sums_kernel<<<n / 64, 64>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
