// finds: nothing
//
// A second barrier waits for those who read.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void mirror_kernel(const float* x, float* y) {
  __shared__ float tile[64];
  const int i = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 2; ++k) {
    __pipeline_memcpy_async(&tile[i], &x[i], sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    sum += tile[63 - i];
    __syncthreads();
  }
  y[i] = sum;
}

int main() {
  const int n = 64;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  mirror_kernel<<<1, n>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
