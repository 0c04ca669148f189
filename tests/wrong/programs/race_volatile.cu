// finds: race, block (0,0,0)
//
// A volatile read in a loop is not yet one that waits: here the loop counts,
// and nobody looks whether the other lane has written.
#include <cuda_runtime.h>

__global__ void sum_kernel(float* y, int turns) {
  __shared__ volatile float tile[32];
  const int lane = threadIdx.x;
  tile[lane] = lane;  // <- other
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < turns; ++i) {
    sum += tile[31 - lane];  // <- here
    __syncwarp();
  }
  y[lane] = sum;
}

int main() {
  float* y = nullptr;
  cudaMalloc(&y, 32 * sizeof *y);
  sum_kernel<<<1, 32>>>(y, 4);
  return cudaDeviceSynchronize() != cudaSuccess;
}
