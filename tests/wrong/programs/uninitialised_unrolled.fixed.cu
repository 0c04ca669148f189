// finds: nothing
//
// The sums begin at zero.
#include <cuda_runtime.h>

__global__ void sums_kernel(const float* x, float* y) {
  float sums[4] = {};
  for (int k = 0; k < 8; ++k)
    for (int j = 0; j < 4; ++j) sums[j] += x[k * 4 + j];
  for (int j = 0; j < 4; ++j) y[j] = sums[j];
}

int main() {
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, 32 * sizeof *x);
  cudaMalloc(&y, 4 * sizeof *y);
  cudaMemset(x, 0, 32 * sizeof *x);
  sums_kernel<<<1, 1>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
