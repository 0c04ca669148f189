// finds: nothing
// Only the last blocks of many store where they have loaded: each its own.
#include <cuda_runtime.h>

__global__ void shift_last(float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 2)
    y[i] = x[i];
  else if (i < n)
    x[i] = x[i] + 1;
}

int main() {
  constexpr int kCount = 1 << 17;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, kCount * sizeof(float));
  cudaMalloc(&y, kCount * sizeof(float));
  cudaMemset(x, 0, kCount * sizeof(float));
  shift_last<<<kCount / 256, 256>>>(x, y, kCount);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
