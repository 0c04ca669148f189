// finds: nothing
//
// What is handed to a function is written.
#include <cuda_runtime.h>

__noinline__ __device__ float half_of(float x) { return x / 2; }

__global__ void halve_kernel(const float* x, float* y) {
  const float value = x[threadIdx.x];
  const float half = half_of(value);
  y[threadIdx.x] = half;
}

int main() {
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, 32 * sizeof *x);
  cudaMalloc(&y, 32 * sizeof *y);
  cudaMemset(x, 0, 32 * sizeof *x);
  halve_kernel<<<1, 32>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
