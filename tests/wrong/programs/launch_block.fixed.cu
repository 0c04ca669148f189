// finds: nothing
//
// Two blocks share the work.
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
  fill_kernel<<<2, 1024, 1024 * sizeof(float)>>>(y, n);
  return cudaGetLastError() != cudaSuccess;
}
