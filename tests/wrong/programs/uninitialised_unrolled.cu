// finds: uninitialised read, says a variable is read that has no value yet
//
// The sums of a tile never begin at zero. All loops are unrolled, so nvcc knows
// that they have no value, and adds NaN instead.
#include <cuda_runtime.h>

__global__ void sums_kernel(const float* x, float* y) {
  float sums[4];
  for (int k = 0; k < 8; ++k)
    for (int j = 0; j < 4; ++j) sums[j] += x[k * 4 + j];  // <- here
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
