// finds: uninitialised read, block (0,0,0), thread (200,0,0), says It is stored
//
// A tile in shared memory is a copy of what nobody has written; another thread
// stores it.
#include <cuda_runtime.h>

__global__ void reverse_kernel(const float* x, float* y) {
  __shared__ float tile[256];
  const int i = threadIdx.x;
  tile[i] = x[i];  // <- here
  __syncthreads();
  y[i] = tile[255 - i];  // <- other
}

int main() {
  const int n = 256;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  float* hole = nullptr;
  cudaMalloc(&hole, sizeof *hole);
  cudaMemcpy(x + 200, hole, sizeof *x, cudaMemcpyDeviceToDevice);
  reverse_kernel<<<1, n>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
