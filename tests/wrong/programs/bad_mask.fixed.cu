// finds: nothing
//
// The mask names all who call.
#include <cuda_runtime.h>

__global__ void shuffle_kernel(float* y) {
  y[threadIdx.x] = __shfl_xor_sync(~0u, y[threadIdx.x], 1);
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
