// finds: race with the host, says the host reads byte 0
//
// The host reads a result for which it has not waited.
#include <cuda_runtime.h>

#include <cstdio>

constexpr int kN = 1 << 12;

__global__ void fill_kernel(float* x, float value) {
  x[blockIdx.x * blockDim.x + threadIdx.x] = value;  // <- here
}

int main() {
  float* x = nullptr;
  cudaMallocManaged(&x, kN * sizeof *x);
  fill_kernel<<<kN / 256, 256>>>(x, 1);
  std::printf("%g\n", x[0]);
  return cudaDeviceSynchronize() != cudaSuccess;
}
