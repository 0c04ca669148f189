// finds: race between streams, says the copy in stream 1
//
// The kernel does not wait for the copy that brings what it reads.
#include <cuda_runtime.h>

constexpr int kN = 1 << 12;

__global__ void double_kernel(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 2 * x[i];  // <- here
}

int main() {
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, kN * sizeof *x);
  cudaMalloc(&y, kN * sizeof *y);
  float* host = nullptr;
  cudaMallocHost(&host, kN * sizeof *host);
  for (int i = 0; i < kN; ++i) host[i] = 1;
  cudaStream_t copies = nullptr, kernels = nullptr;
  cudaStreamCreate(&copies);
  cudaStreamCreate(&kernels);
  cudaMemcpyAsync(x, host, kN * sizeof *x, cudaMemcpyHostToDevice, copies);
  double_kernel<<<kN / 256, 256, 0, kernels>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
