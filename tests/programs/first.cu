// The first program of chapter 01: to the device, through a kernel, and back.
#include <cstdio>
#include <vector>

#include "common/check.h"

__device__ float rectify(float x) { return x <= 0.f ? 0.f : x; }

__global__ void relu_kernel(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;

  if (i < n) y[i] = rectify(x[i]);
}

int main() {
  const int n = 1000;
  std::vector<float> numbers(n);
  for (int i = 0; i < n; ++i) numbers[i] = i - 500;

  const size_t bytes = n * sizeof(float);
  float *x, *y;
  CUDA_CHECK(cudaMalloc(&x, bytes));
  CUDA_CHECK(cudaMalloc(&y, bytes));
  CUDA_CHECK(cudaMemcpy(x, numbers.data(), bytes, cudaMemcpyHostToDevice));

  const dim3 block(256), grid((n + 255) / 256);
  relu_kernel<<<grid, block>>>(x, y, n);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaMemcpy(numbers.data(), y, bytes, cudaMemcpyDeviceToHost));

  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += numbers[i] != (i > 500 ? i - 500 : 0);
  std::printf("%d of %d numbers are wrong\n", wrong, n);
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaFree(y));
  return wrong > 0;
}
