// finds: nothing
//
// All of it is written.
#include <cuda_runtime.h>

__global__ void copy_kernel(const float* x, float* y) {
  y[threadIdx.x] = x[threadIdx.x];
}

int main() {
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, 256 * sizeof *x);
  cudaMalloc(&y, 256 * sizeof *y);
  cudaMemset(x, 0, 256 * sizeof *x);
  copy_kernel<<<1, 256>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
