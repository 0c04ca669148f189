// finds: nothing
//
// The host says how often the loop turns.
#include <cuda_runtime.h>

__global__ void fill_kernel(const int* n, float* y) {
  const int count = *n & 255;
  for (int k = 0; k < count; ++k) {
    y[k] = 1.f;
    __threadfence();
  }
}

int main() {
  int* n = nullptr;
  float* y = nullptr;
  cudaMalloc(&n, sizeof *n);
  cudaMemset(n, 0, sizeof *n);
  cudaMalloc(&y, 256 * sizeof *y);
  fill_kernel<<<1, 1>>>(n, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
