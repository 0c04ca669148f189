// finds: race, block (0,0,0)
//
// Two rows of 16 floats lie in 128 bytes. Both warps read the first, and one
// the second, where the other stores. Nothing makes that one wait.
#include <cuda_runtime.h>

__global__ void add_kernel(const float* x, float* y) {
  __shared__ float rows[2][16];
  const int i = threadIdx.x, k = i % 16, warp = i / 32;
  if (i < 32) rows[i / 16][k] = x[i];
  __syncthreads();
  if (i % 32 >= 16) return;
  y[i] = rows[0][k];
  if (warp == 1) y[16 + k] = rows[1][k];  // <- other
  if (warp == 0) rows[1][k] = 0;          // <- here
}

int main() {
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, 32 * sizeof *x);
  cudaMalloc(&y, 64 * sizeof *y);
  cudaMemset(x, 0, 32 * sizeof *x);
  add_kernel<<<1, 64>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
