// finds: nothing
//
// All of half a million elements are written.
#include <cuda_runtime.h>

__global__ void fill_kernel(float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = 1.f;
}

__global__ void copy_kernel(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i];
}

int main() {
  const int n = 1 << 19, block = 256;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  fill_kernel<<<n / block, block>>>(x);
  copy_kernel<<<n / block, block>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
