// A sum over many blocks; each adds its part to the result atomically.
#include <cuda.h>

#include <cstdio>
#include <vector>

#define BLOCK 1024

__global__ void segmented_sum(const float* in, float* out, int n) {
  __shared__ float partial[BLOCK];
  unsigned int segment = 2 * blockDim.x * blockIdx.x;
  unsigned int t = threadIdx.x;
  unsigned int i = segment + t;
  partial[t] = i < n ? in[i] : 0.0f;
  if (i + BLOCK < n) partial[t] += in[i + BLOCK];
  for (unsigned int stride = blockDim.x / 2; stride > 0; stride >>= 1) {
    __syncthreads();
    if (t < stride) partial[t] += partial[t + stride];
  }
  if (t == 0) atomicAdd(out, partial[0]);
}

int main() {
  const int n = 100000;
  std::vector<float> host(n, 1.0f);
  float *in, *out, got = -1;
  cudaMalloc(&in, n * sizeof(float));
  cudaMalloc(&out, sizeof(float));
  cudaMemcpy(in, host.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(out, 0, sizeof(float));
  int blocks = (n + 2 * BLOCK - 1) / (2 * BLOCK);
  segmented_sum<<<blocks, BLOCK>>>(in, out, n);
  cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) {
    fprintf(stderr, "%s\n", cudaGetErrorString(error));
    return 1;
  }
  cudaMemcpy(&got, out, sizeof(float), cudaMemcpyDeviceToHost);
  printf("Total: %f\n", got);
  cudaFree(in);
  cudaFree(out);
  return got != (float)n;
}
