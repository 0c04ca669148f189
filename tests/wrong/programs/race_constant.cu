// finds: race between streams, says the copy in stream 2
//
// The next round's constants are copied while the kernel may still read those
// of this one.
#include <cuda_runtime.h>

__constant__ float weights[64];

__global__ void scale_kernel(float* x) {
  x[threadIdx.x] *= weights[threadIdx.x];  // <- here
}

int main() {
  float *x = nullptr, *host = nullptr;
  cudaMalloc(&x, sizeof weights);
  cudaMemset(x, 0, sizeof weights);
  cudaMallocHost(&host, sizeof weights);
  for (int i = 0; i < 64; ++i) host[i] = 1;
  cudaMemcpyToSymbol(weights, host, sizeof weights);
  cudaDeviceSynchronize();
  cudaStream_t kernels = nullptr, copies = nullptr;
  cudaStreamCreate(&kernels);
  cudaStreamCreate(&copies);
  scale_kernel<<<1, 64, 0, kernels>>>(x);
  cudaMemcpyToSymbolAsync(weights, host, sizeof weights, 0,
                          cudaMemcpyHostToDevice, copies);
  return cudaDeviceSynchronize() != cudaSuccess;
}
