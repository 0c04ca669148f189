// finds: nothing
//
// Two rows of 16 floats lie in 128 bytes. One warp stores to the second when
// the other has read it.
#include <cuda_runtime.h>

__global__ void add_kernel(const float* x, float* y) {
  __shared__ float rows[2][16];
  const int i = threadIdx.x, k = i % 16, warp = i / 32;
  if (i < 32) rows[i / 16][k] = x[i];
  __syncthreads();
  const bool takes = i % 32 < 16;
  if (takes) y[i] = rows[0][k];
  if (takes && warp == 1) y[16 + k] = rows[1][k];
  __syncthreads();
  if (takes && warp == 0) rows[1][k] = 0;
}

int main() {
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, 32 * sizeof *x);
  cudaMalloc(&y, 64 * sizeof *y);
  cudaMemset(x, 0, 32 * sizeof *x);
  add_kernel<<<1, 64>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
