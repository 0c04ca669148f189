// finds: note error, says unwritten copy
//
// The division is rounded down, so the last elements have no threads.
#include <cuda_runtime.h>

__global__ void twice(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

int main() {
  const int n = 1000, block = 256;
  float host[n] = {}, *x = nullptr, *y = nullptr;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&y, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  twice<<<n / block, block>>>(x, y, n);
  cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost);
  return cudaDeviceSynchronize() != cudaSuccess;
}
