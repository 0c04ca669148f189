// finds: race, block (1,0,0), thread (0,0,0)
//
// Blocks count themselves, and each second one sets the counter to zero. Others
// may count meanwhile.
#include <cuda_runtime.h>

__device__ unsigned count;

__global__ void sum_kernel(const float* x, float* parts, float* y) {
  __shared__ bool resets;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = x[blockIdx.x];
    __threadfence();
    resets = atomicInc(&count, gridDim.x) % 2 == 0;  // <- here
  }
  __syncthreads();
  if (!resets || threadIdx.x != 0) return;
  *y = parts[blockIdx.x];
  count = 0;  // <- other
}

int main() {
  const int blocks = 2;
  float *x = nullptr, *parts = nullptr, *y = nullptr;
  cudaMalloc(&x, blocks * sizeof *x);
  cudaMalloc(&parts, blocks * sizeof *parts);
  cudaMalloc(&y, sizeof *y);
  cudaMemset(x, 0, blocks * sizeof *x);
  sum_kernel<<<blocks, 64>>>(x, parts, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
