// finds: uninitialised read, block (0,0,0), says which has no thread
//
// A block of 20 threads is summed as if it had 32.
#include <cuda_runtime.h>

__global__ void sum_kernel(const float* x, float* y) {
  float sum = x[threadIdx.x];
  for (int k = 16; k > 0; k /= 2)
    sum += __shfl_down_sync(0xfffff, sum, k);  // <- here
  if (threadIdx.x == 0) *y = sum;              // <- other
}

int main() {
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, 32 * sizeof *x);
  cudaMalloc(&y, sizeof *y);
  cudaMemset(x, 0, 32 * sizeof *x);
  sum_kernel<<<1, 20>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
