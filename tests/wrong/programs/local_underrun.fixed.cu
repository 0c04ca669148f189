// finds: nothing
//
// A thread shifts eight values of its own.
#include <cuda_runtime.h>

__global__ void shift_kernel(const int* from, float* y) {
  float kept[8];
  for (int k = 0; k < 8; ++k) kept[k] = k * threadIdx.x;
  kept[from[threadIdx.x]] = 1;
  y[threadIdx.x] = kept[from[threadIdx.x] + 1];
}

int main() {
  int host[32] = {};
  for (int i = 0; i < 32; ++i) host[i] = i % 7;
  int* from = nullptr;
  float* y = nullptr;
  cudaMalloc(&from, sizeof host);
  cudaMalloc(&y, 32 * sizeof *y);
  cudaMemcpy(from, host, sizeof host, cudaMemcpyHostToDevice);
  shift_kernel<<<1, 32>>>(from, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
