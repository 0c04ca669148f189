// finds: nothing
//
// An atomic counts both.
#include <cuda_runtime.h>

__global__ void histogram_kernel(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int bin = static_cast<int>(x[i]) + i % 16;
  atomicAdd(&y[bin], 1);
}

int main() {
  const int n = 1024;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  cudaMemset(y, 0, n * sizeof *y);
  histogram_kernel<<<n / 256, 256>>>(x, y, n);
  return cudaDeviceSynchronize() != cudaSuccess;
}
