// finds: nothing
//
// Its stream waits for the copy.
#include <cuda_runtime.h>

constexpr int kN = 1 << 12;

__global__ void double_kernel(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 2 * x[i];
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
  cudaEvent_t here = nullptr;
  cudaEventCreate(&here);
  cudaMemcpyAsync(x, host, kN * sizeof *x, cudaMemcpyHostToDevice, copies);
  cudaEventRecord(here, copies);
  cudaStreamWaitEvent(kernels, here, 0);
  double_kernel<<<kN / 256, 256, 0, kernels>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
