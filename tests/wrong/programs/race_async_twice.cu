// finds: race, block (0,0,0), says copied by cp.async
//
// Two copies bring the same, and only the first has been waited for.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

__global__ void mirror_kernel(const float* x, float* y) {
  __shared__ float tile[64];
  const int i = threadIdx.x;
  for (int k = 0; k < 2; ++k) {
    __pipeline_memcpy_async(&tile[i], &x[i],  // <- other
                            sizeof(float));
    __pipeline_commit();
  }
  __pipeline_wait_prior(1);
  __syncthreads();
  y[i] = tile[63 - i];  // <- here
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
