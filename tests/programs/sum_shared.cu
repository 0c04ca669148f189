// The sum with its intermediate values in shared memory.
#include <cuda.h>

#include <iostream>
#include <vector>

#define THREADS 1024

__global__ void shared_sum(const float* in, float* out) {
  __shared__ float partial[THREADS];
  unsigned int t = threadIdx.x;
  partial[t] = in[t] + in[t + THREADS];
  for (unsigned int stride = blockDim.x / 2; stride >= 1; stride /= 2) {
    __syncthreads();
    if (t < stride) partial[t] += partial[t + stride];
  }
  if (t == 0) *out = partial[0];
}

int main() {
  std::vector<float> host(2 * THREADS);
  float expected = 0;
  for (size_t i = 0; i < host.size(); ++i) {
    host[i] = i % 2 ? 0.5f : 2.0f;
    expected += host[i];
  }
  float *in, *out, got;
  cudaMalloc(&in, host.size() * sizeof(float));
  cudaMalloc(&out, sizeof(float));
  cudaMemcpy(in, host.data(), host.size() * sizeof(float),
             cudaMemcpyHostToDevice);
  shared_sum<<<1, THREADS>>>(in, out);
  cudaDeviceSynchronize();
  cudaMemcpy(&got, out, sizeof(float), cudaMemcpyDeviceToHost);
  std::cout << "Sum with shared memory: " << got << '\n';
  cudaFree(in);
  cudaFree(out);
  return got == expected ? 0 : 1;
}
