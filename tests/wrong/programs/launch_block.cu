// finds: error, says launch: fill_kernel: a block of (2048, 1, 1) exceeds
//
// A block has at most 1024 threads.
#include <cuda_runtime.h>

__global__ void fill_kernel(float* y, int n) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = 1;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = tile[threadIdx.x];
}

int main() {
  const int n = 2048;
  float* y = nullptr;
  cudaMalloc(&y, 4096 * sizeof *y);
  fill_kernel<<<1, 2048, 2048 * sizeof(float)>>>(y, n);
  return cudaGetLastError() != cudaSuccess;
}
