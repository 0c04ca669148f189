// finds: trap, block (0,0,0), thread (3,0,0)
//
// The kernel gives up by itself.
#include <cuda_runtime.h>

__global__ void check_kernel(const float* x) {
  if (x[threadIdx.x] != 0) __trap();  // <- here
}

int main() {
  float host[32] = {};
  host[3] = 1;
  float* x = nullptr;
  cudaMalloc(&x, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  check_kernel<<<1, 32>>>(x);
  return cudaDeviceSynchronize() != cudaSuccess;
}
