// finds: nothing
//
// The packs begin where the array does.
#include <cuda_runtime.h>

__global__ void copy_kernel(const float* x, float4* y) {
  y[threadIdx.x] = reinterpret_cast<const float4*>(x)[threadIdx.x];
}

int main() {
  const int n = 256;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  cudaMemset(y, 0, n * sizeof *y);
  copy_kernel<<<1, n / 8>>>(x, reinterpret_cast<float4*>(y));
  return cudaDeviceSynchronize() != cudaSuccess;
}
