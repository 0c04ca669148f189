// finds: bad member mask, block (0,0,0), thread (16,0,0)
//
// The mask names the lower half of the warp, and the upper half calls, too.
#include <cuda_runtime.h>

__global__ void shuffle_kernel(float* y) {
  y[threadIdx.x] = __shfl_xor_sync(0xffff, y[threadIdx.x], 1);  // <- here
}

int main() {
  const int n = 256;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  cudaMemset(y, 0, n * sizeof *y);
  shuffle_kernel<<<1, 32>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
