// finds: nothing
//
// It is rounded up.
#include <cuda_runtime.h>

__global__ void fill_kernel(float* y, int n) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = 1;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = tile[threadIdx.x];
}

int main() {
  const int n = 200;
  float* y = nullptr;
  cudaMalloc(&y, 4096 * sizeof *y);
  fill_kernel<<<(n + 255) / 256, 256, 256 * sizeof(float)>>>(y, n);
  return cudaGetLastError() != cudaSuccess;
}
