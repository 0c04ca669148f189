// finds: race, block (1,0,0)
//
// Each block has a flag of its own, at the same place of its shared memory.
// What it tells is about this block, and orders nothing that others do.
#include <cuda_runtime.h>

__global__ void hand_over_kernel(float* values, float* y) {
  __shared__ volatile int flag;
  const int i = threadIdx.x, block = blockIdx.x;
  if (i == 0) flag = 0;
  __syncthreads();
  if (i == 0) {
    values[block] = block;  // <- other
    __threadfence();
    flag = 1;
  } else {
    while (flag == 0) {
    }
    __threadfence();
    y[block * blockDim.x + i] = values[block ? block - 1 : 0];  // <- here
  }
}

int main() {
  float *values = nullptr, *y = nullptr;
  cudaMalloc(&values, 2 * sizeof *values);
  cudaMalloc(&y, 2 * 64 * sizeof *y);
  hand_over_kernel<<<2, 64>>>(values, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
