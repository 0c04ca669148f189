// Fewer threads that each add several elements before they meet.
#include <cuda.h>

#include <iostream>
#include <memory>

constexpr int kBlock = 512;
constexpr int kCoarse = 2;

__global__ void coarsened_sum(float* in, float* out, int n) {
  __shared__ float partial[kBlock];
  unsigned int t = threadIdx.x;
  unsigned int i = blockIdx.x * blockDim.x * kCoarse + t;
  float sum = 0.0f;
  for (int tile = 0; tile < kCoarse; ++tile) {
    unsigned int at = i + tile * kBlock;
    if (at < n) sum += in[at];
  }
  partial[t] = sum;
  __syncthreads();
  for (unsigned int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
    if (t < stride) partial[t] += partial[t + stride];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, partial[0]);
}

int main() {
  const int n = 10000;
  std::unique_ptr<float[]> host(new float[n]);
  float expected = 0;
  for (int i = 0; i < n; ++i) expected += host[i] = (float)(i & 7);
  float *in, *out, got = 0;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&out, sizeof(float));
  cudaMemcpy(in, host.get(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(out, &got, sizeof(float), cudaMemcpyHostToDevice);
  const int per_block = kBlock * kCoarse;
  coarsened_sum<<<(n + per_block - 1) / per_block, kBlock>>>(in, out, n);
  cudaMemcpy(&got, out, sizeof(float), cudaMemcpyDeviceToHost);
  std::cout << "Reduced to " << got << std::endl;
  cudaFree(in);
  cudaFree(out);
  return got == expected ? 0 : 1;
}
