// finds: out of bounds, block (0,0,0), thread (0,0,0), says 4 bytes before
//
// A function that is called shifts eight values of its own; one thread begins
// before the first, where the function's parameters lie.
#include <cuda_runtime.h>

__device__ __noinline__ void shift(const int* from, float* y) {
  float kept[8];
  for (int k = 0; k < 8; ++k) kept[k] = k * threadIdx.x;
  kept[from[threadIdx.x]] = 1;  // <- here
  y[threadIdx.x] = kept[from[threadIdx.x] + 1];
}

__global__ void shift_kernel(const int* from, float* y) { shift(from, y); }

int main() {
  const int n = 32;
  int host[n], *from = nullptr;
  float* y = nullptr;
  for (int i = 0; i < n; ++i) host[i] = i % 7 - 1;
  cudaMalloc(&from, sizeof host);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemcpy(from, host, sizeof host, cudaMemcpyDefault);
  shift_kernel<<<1, n>>>(from, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
