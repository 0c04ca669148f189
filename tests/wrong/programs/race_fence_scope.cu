// finds: race, block (3,0,0)
//
// The last block adds up what the others left. A fence for the block does not
// concern other blocks: they may see the atomic before they see the sums.
#include <cuda_runtime.h>

__device__ unsigned arrived;

__global__ void sum_kernel(const float* x, float* y, float* partial) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = x[blockIdx.x];  // <- other
    __threadfence_block();
    last = atomicAdd(&arrived, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x < gridDim.x)
    atomicAdd(y, partial[threadIdx.x]);  // <- here
}

int main() {
  float *x = nullptr, *y = nullptr, *partial = nullptr;
  cudaMalloc(&x, 4 * sizeof *x);
  cudaMalloc(&y, sizeof *y);
  cudaMalloc(&partial, 4 * sizeof *partial);
  cudaMemset(x, 0, 4 * sizeof *x);
  cudaMemset(y, 0, sizeof *y);
  sum_kernel<<<4, 64>>>(x, y, partial);
  return cudaDeviceSynchronize() != cudaSuccess;
}
