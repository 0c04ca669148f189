// finds: nothing
// Blocks far apart, which the executor runs on different cores: each writes
// to an array of its own.
#include <cuda_runtime.h>

__global__ void add_opposite(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + x[n - 1 - i];
}

int main() {
  constexpr int kCount = 1 << 17;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, kCount * sizeof(float));
  cudaMalloc(&y, kCount * sizeof(float));
  cudaMemset(x, 0, kCount * sizeof(float));
  add_opposite<<<kCount / 256, 256>>>(x, y, kCount);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
