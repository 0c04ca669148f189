// finds: nothing
//
// It holds.
#include <cuda_runtime.h>

#include <cassert>

__global__ void root_kernel(float* x) {
  assert(x[threadIdx.x] >= 0);
  x[threadIdx.x] = sqrtf(x[threadIdx.x]);
}

int main() {
  float host[32] = {};
  host[10] = 1;
  float* x = nullptr;
  cudaMalloc(&x, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  root_kernel<<<1, 32>>>(x);
  return cudaDeviceSynchronize() != cudaSuccess;
}
