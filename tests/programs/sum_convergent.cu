// The same sum, in an order that keeps the working threads side by side.
#include <cuda.h>

#include <iostream>

__global__ void convergent_sum(float* in, float* out) {
  unsigned int t = threadIdx.x;
  for (unsigned int stride = blockDim.x; stride > 0; stride /= 2) {
    if (t < stride) in[t] += in[t + stride];
    __syncthreads();
  }
  if (t == 0) *out = in[0];
}

int main() {
  const int n = 2048;
  float* host = new float[n];
  double expected = 0;
  for (int i = 0; i < n; ++i) {
    host[i] = 1.0f + i % 4;
    expected += host[i];
  }
  float *in, *out;
  cudaMalloc((void**)&in, n * sizeof(float));
  cudaMalloc((void**)&out, sizeof(float));
  cudaMemcpy(in, host, n * sizeof(float), cudaMemcpyHostToDevice);
  convergent_sum<<<1, n / 2>>>(in, out);
  float got = 0;
  cudaMemcpy(&got, out, sizeof(float), cudaMemcpyDeviceToHost);
  std::cout << "The sum is " << got << std::endl;
  cudaFree(in);
  cudaFree(out);
  delete[] host;
  return got != expected;
}
