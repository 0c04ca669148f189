// finds: nothing
//
// A second barrier waits for those who read.
#include <cuda_runtime.h>

__global__ void sums_kernel(const float* x, float* y) {
  __shared__ float tile[256];
  const int i = threadIdx.x;
  float sum = 0;
  for (int first = 0; first < 1024; first += 256) {
    tile[i] = x[first + i];
    __syncthreads();
    for (int k = 0; k < 256; ++k) sum += tile[k];
    __syncthreads();
  }
  y[i] = sum;
}

int main() {
  const int n = 1024;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  cudaMemset(y, 0, n * sizeof *y);
  sums_kernel<<<1, 256>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
