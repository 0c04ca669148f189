// finds: uninitialised read, block (0,0,0), thread (0,0,0), says It decides the
// branch
//
// How often the loop turns, nobody has said.
#include <cuda_runtime.h>

__global__ void fill_kernel(const int* n, float* y) {
  const int count = *n & 255;        // <- here
  for (int k = 0; k < count; ++k) {  // <- other
    y[k] = 1.f;
    __threadfence();
  }
}

int main() {
  int* n = nullptr;
  float* y = nullptr;
  cudaMalloc(&n, sizeof *n);
  cudaMalloc(&y, 256 * sizeof *y);
  fill_kernel<<<1, 1>>>(n, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
