// finds: nothing
//
// There is a weight for each thread of the block.
#include <cuda_runtime.h>

__constant__ float weights[8] = {1, 2, 3, 4, 5, 6, 7, 8};

__global__ void weigh_kernel(float* y) {
  y[threadIdx.x] = weights[threadIdx.x];
}

int main() {
  float* y = nullptr;
  cudaMalloc(&y, 9 * sizeof *y);
  weigh_kernel<<<1, 8>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
