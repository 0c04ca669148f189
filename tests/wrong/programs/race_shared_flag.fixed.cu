// finds: nothing
//
// Each block has a flag of its own, and reads what is its own.
#include <cuda_runtime.h>

__global__ void hand_over_kernel(float* values, float* y) {
  __shared__ volatile int flag;
  const int i = threadIdx.x, block = blockIdx.x;
  if (i == 0) flag = 0;
  __syncthreads();
  if (i == 0) {
    values[block] = block;
    __threadfence();
    flag = 1;
  } else {
    while (flag == 0) {
    }
    __threadfence();
    y[block * blockDim.x + i] = values[block];
  }
}

int main() {
  float *values = nullptr, *y = nullptr;
  cudaMalloc(&values, 2 * sizeof *values);
  cudaMalloc(&y, 2 * 64 * sizeof *y);
  hand_over_kernel<<<2, 64>>>(values, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
