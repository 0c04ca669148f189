// finds: misaligned access, block (0,0,0), thread (0,0,0)
//
// A pack of four floats needs an address that is a multiple of 16.
#include <cuda_runtime.h>

__global__ void copy_kernel(const float* x, float4* y) {
  y[threadIdx.x] = reinterpret_cast<const float4*>(x)[threadIdx.x];  // <- here
}

int main() {
  const int n = 256;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  cudaMemset(y, 0, n * sizeof *y);
  copy_kernel<<<1, n / 8>>>(x + 1, reinterpret_cast<float4*>(y));
  return cudaDeviceSynchronize() != cudaSuccess;
}
