// finds: nothing
//
// It waits.
#include <cuda_runtime.h>

#include <cstdio>

constexpr int kN = 1 << 12;

__global__ void fill_kernel(float* x, float value) {
  x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

int main() {
  float* x = nullptr;
  cudaMallocManaged(&x, kN * sizeof *x);
  fill_kernel<<<kN / 256, 256>>>(x, 1);
  cudaDeviceSynchronize();
  std::printf("%g\n", x[0]);
  return cudaDeviceSynchronize() != cudaSuccess;
}
