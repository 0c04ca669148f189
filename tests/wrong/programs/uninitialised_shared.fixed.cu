// finds: nothing
//
// They fill it with zero.
#include <cuda_runtime.h>

__global__ void reverse_kernel(const float* x, float* y, int n) {
  __shared__ float tile[256];
  const int i = threadIdx.x;
  tile[i] = i < n ? x[i] : 0;
  __syncthreads();
  y[i] = tile[i];
}

int main() {
  const int n = 256;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  cudaMemset(y, 0, n * sizeof *y);
  reverse_kernel<<<1, 256>>>(x, y, 250);
  return cudaDeviceSynchronize() != cudaSuccess;
}
