// finds: nothing
//
// __syncwarp() before the first read, not behind it.
#include <cuda_runtime.h>

__global__ void sum_kernel(float* y, int turns) {
  __shared__ volatile float tile[32];
  const int lane = threadIdx.x;
  tile[lane] = lane;
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < turns; ++i) {
    __syncwarp();
    sum += tile[31 - lane];
  }
  y[lane] = sum;
}

int main() {
  float* y = nullptr;
  cudaMalloc(&y, 32 * sizeof *y);
  sum_kernel<<<1, 32>>>(y, 4);
  return cudaDeviceSynchronize() != cudaSuccess;
}
