// finds: race, says by __ldg()
//
// A kernel reads by the read-only cache what it has written itself: that cache
// may hold what was there before, whatever barrier lies between the two.
#include <cuda_runtime.h>

__global__ void reverse_kernel(float* x, float* y) {
  const int i = threadIdx.x;
  x[i] = i;  // <- other
  __syncthreads();
  y[i] = __ldg(&x[blockDim.x - 1 - i]);  // <- here
}

int main() {
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, 256 * sizeof *x);
  cudaMalloc(&y, 256 * sizeof *y);
  reverse_kernel<<<1, 256>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
