// finds: error, says launch: fill_kernel: 65536 bytes of dynamic shared memory
// exceed 49152
//
// More shared memory than a kernel gets without asking.
#include <cuda_runtime.h>

__global__ void fill_kernel(float* y, int n) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = 1;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = tile[threadIdx.x];
}

int main() {
  const int n = 256;
  float* y = nullptr;
  cudaMalloc(&y, 4096 * sizeof *y);
  fill_kernel<<<1, 256, 64 << 10>>>(y, n);
  return cudaGetLastError() != cudaSuccess;
}
