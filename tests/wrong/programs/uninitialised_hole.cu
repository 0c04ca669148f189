// finds: uninitialised read, block (2000,0,0), thread (128,0,0)
//
// Of half a million elements, one in the middle is left out.
#include <cuda_runtime.h>

__global__ void fill_kernel(float* x, int hole) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i != hole) x[i] = 1.f;
}

__global__ void copy_kernel(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i];  // <- here
}

int main() {
  const int n = 1 << 19, block = 256;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  fill_kernel<<<n / block, block>>>(x, 2000 * block + 128);
  copy_kernel<<<n / block, block>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
