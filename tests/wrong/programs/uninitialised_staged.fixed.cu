// finds: nothing
//
// A tile in shared memory is a copy of what somebody has written.
#include <cuda_runtime.h>

__global__ void reverse_kernel(const float* x, float* y) {
  __shared__ float tile[256];
  const int i = threadIdx.x;
  tile[i] = x[i];
  __syncthreads();
  y[i] = tile[255 - i];
}

int main() {
  const int n = 256;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  reverse_kernel<<<1, n>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
