// finds: out of bounds, block (0,0,0), thread (8,0,0), says 32-byte variable
//
// There is a weight for each of eight threads, and the block has nine.
#include <cuda_runtime.h>

__constant__ float weights[8] = {1, 2, 3, 4, 5, 6, 7, 8};

__global__ void weigh_kernel(float* y) {
  y[threadIdx.x] = weights[threadIdx.x];  // <- here
}

int main() {
  float* y = nullptr;
  cudaMalloc(&y, 9 * sizeof *y);
  weigh_kernel<<<1, 9>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
