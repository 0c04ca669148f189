// finds: race, block (1,0,0)
//
// Halves of a warp have met, and then the whole block. Lane 0 fences what it
// has written since, and announces what all lanes wrote.
#include <cuda_runtime.h>

__global__ void hand_over_kernel(float* values, int* flag, float* y) {
  __shared__ float halves[32];
  const int lane = threadIdx.x;
  if (blockIdx.x == 0) {
    halves[lane] = lane;
    __syncwarp(lane < 16 ? 0xffff : 0xffff0000);
    const float other = halves[lane ^ 1];
    __syncthreads();
    values[lane] = other;  // <- other
    if (lane == 0) {
      __threadfence();
      atomicExch(flag, 1);
    }
  } else {
    if (lane == 0)
      while (atomicAdd(flag, 0) == 0) {
      }
    __threadfence();
    __syncwarp();
    y[lane] = values[31 - lane];  // <- here
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
