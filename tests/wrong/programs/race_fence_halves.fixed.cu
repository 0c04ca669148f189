// finds: nothing
//
// All lanes fence what they have written since, and meet before lane 0
// announces it.
#include <cuda_runtime.h>

__global__ void hand_over_kernel(float* values, int* flag, float* y) {
  __shared__ float halves[32];
  const int lane = threadIdx.x;
  if (blockIdx.x == 0) {
    halves[lane] = lane;
    __syncwarp(lane < 16 ? 0xffff : 0xffff0000);
    const float other = halves[lane ^ 1];
    __syncthreads();
    values[lane] = other;
    __threadfence();
    __syncwarp();
    if (lane == 0) atomicExch(flag, 1);
  } else {
    if (lane == 0)
      while (atomicAdd(flag, 0) == 0) {
      }
    __threadfence();
    __syncwarp();
    y[lane] = values[31 - lane];
  }
}

int main() {
  float *values = nullptr, *y = nullptr;
  int* flag = nullptr;
  cudaMalloc(&values, 32 * sizeof *values);
  cudaMalloc(&y, 32 * sizeof *y);
  cudaMalloc(&flag, sizeof *flag);
  cudaMemset(flag, 0, sizeof *flag);
  hand_over_kernel<<<2, 32>>>(values, flag, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
