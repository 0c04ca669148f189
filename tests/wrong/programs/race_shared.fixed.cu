// finds: nothing
//
// A barrier stands between writing and reading.
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
  cudaMemset(y, 0, n * sizeof *y);
  reverse_kernel<<<1, 256>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
