// finds: nothing
//
// The last block sets the counter to zero: all others have counted.
#include <cuda_runtime.h>

__device__ unsigned count;

__global__ void sum_kernel(const float* x, float* parts, float* y) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = x[blockIdx.x];
    __threadfence();
    last = atomicInc(&count, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last || threadIdx.x != 0) return;
  float sum = 0;
  for (unsigned k = 0; k < gridDim.x; ++k) sum += parts[k];
  *y = sum;
  count = 0;
}

int main() {
  const int blocks = 8;
  float *x = nullptr, *parts = nullptr, *y = nullptr;
  cudaMalloc(&x, blocks * sizeof *x);
  cudaMalloc(&parts, blocks * sizeof *parts);
  cudaMalloc(&y, sizeof *y);
  cudaMemset(x, 0, blocks * sizeof *x);
  sum_kernel<<<blocks, 64>>>(x, parts, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
