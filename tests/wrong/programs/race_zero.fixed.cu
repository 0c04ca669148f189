// finds: nothing
//
// The sum is zero before the kernel begins.
#include <cuda_runtime.h>

__global__ void sum_kernel(const float* x, float* y) {
  atomicAdd(y, x[blockIdx.x * blockDim.x + threadIdx.x]);
}

int main() {
  const int n = 256;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  cudaMemset(y, 0, sizeof *y);
  sum_kernel<<<n / 32, 32>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
