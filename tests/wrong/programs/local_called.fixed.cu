// finds: nothing
//
// A function that is called shifts eight values of its own, and changes
// those of its caller.
#include <cuda_runtime.h>

__device__ __noinline__ void shift(const int* from, float* y, float* given) {
  given[from[threadIdx.x]] = 1;
  float kept[8];
  for (int k = 0; k < 8; ++k) kept[k] = k * threadIdx.x;
  kept[from[threadIdx.x]] = 1;
  y[threadIdx.x] = kept[from[threadIdx.x] + 1];
}

__global__ void shift_kernel(const int* from, float* y) {
  float given[8];
  for (int k = 0; k < 8; ++k) given[k] = k;
  shift(from, y, given);
  y[threadIdx.x] += given[from[threadIdx.x]];
}

int main() {
  const int n = 32;
  int host[n], *from = nullptr;
  float* y = nullptr;
  for (int i = 0; i < n; ++i) host[i] = i % 7;
  cudaMalloc(&from, sizeof host);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemcpy(from, host, sizeof host, cudaMemcpyDefault);
  shift_kernel<<<1, n>>>(from, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
