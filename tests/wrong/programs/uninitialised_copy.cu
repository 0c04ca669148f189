// finds: uninitialised read, block (300,0,0), thread (7,0,0)
//
// One element of an array that is written all over is replaced by a copy of
// something that nobody has written.
#include <cuda_runtime.h>

__global__ void scale_kernel(float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 2.f * y[i];  // <- here
}

int main() {
  const int n = 1 << 19, block = 256;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(y, 0, n * sizeof *y);
  cudaMemcpy(y + 300 * block + 7, x, sizeof *x, cudaMemcpyDeviceToDevice);
  scale_kernel<<<n / block, block>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
