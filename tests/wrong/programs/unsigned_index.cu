// finds: out of bounds, says an unsigned index below 0
//
// The first thread has no left neighbour: i - 1 is the largest number there is.
#include <cuda_runtime.h>

__global__ void differences(const float* x, float* y, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] - x[i - 1];  // <- here
}

int main() {
  const unsigned n = 100;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  differences<<<1, n>>>(x, y, n);
  return cudaDeviceSynchronize() != cudaSuccess;
}
