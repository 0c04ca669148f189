// finds: race, block (0,0,0), thread (0,0,0), says read by cp.async
//
// The source changes while it may still be read.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void mirror_kernel(float* x, float* y) {
  __shared__ float tile[64];
  const int i = threadIdx.x;
  __pipeline_memcpy_async(&tile[i], &x[i], sizeof(float));  // <- other
  __pipeline_commit();
  x[i] = 1;  // <- here
  __pipeline_wait_prior(0);
  y[i] = tile[i];
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
