// finds: out of bounds, block (0,0,0), thread (0,0,0), says memory of the host
// program
//
// An array of the host program is handed to a kernel.
#include <cuda_runtime.h>

__global__ void copy_kernel(const float* x, float* y) {
  y[threadIdx.x] = x[threadIdx.x];  // <- here
}

float on_host[256];

int main() {
  const int n = 256;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  cudaMemset(y, 0, n * sizeof *y);
  copy_kernel<<<1, n>>>(on_host, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
