// finds: nothing
//
// A thread keeps eight values of its own, and asks for one of them.
#include <cuda_runtime.h>

__global__ void pick_kernel(const int* which, float* y) {
  float kept[8];
  for (int k = 0; k < 8; ++k) kept[k] = k * threadIdx.x;
  y[threadIdx.x] = kept[which[threadIdx.x]];
}

int main() {
  int host[32] = {};
  for (int i = 0; i < 32; ++i) host[i] = i % 8;
  int* which = nullptr;
  float* y = nullptr;
  cudaMalloc(&which, sizeof host);
  cudaMalloc(&y, 32 * sizeof *y);
  cudaMemcpy(which, host, sizeof host, cudaMemcpyHostToDevice);
  pick_kernel<<<1, 32>>>(which, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
