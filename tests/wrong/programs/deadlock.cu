// finds: deadlock, block (0,0,0), thread (16,0,0)
//
// Half of the warp waits for the block, the other half for the warp.
#include <cuda_runtime.h>

__global__ void crossed_kernel(float* y) {
  if (threadIdx.x % 32 < 16) {
    __syncwarp();
    y[threadIdx.x] = 1;
  } else {
    __syncthreads();  // <- here
    y[threadIdx.x] = 2;
  }
}

int main() {
  const int n = 256;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  cudaMemset(y, 0, n * sizeof *y);
  crossed_kernel<<<1, 64>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
