// finds: nothing
//
// The results go to another array.
#include <cuda_runtime.h>

__global__ void blur_kernel(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0 || i >= n - 1) return;
  const float sum = x[i - 1] + x[i] + x[i + 1];
  y[i] = sum / 3;
}

int main() {
  const int n = 300;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  blur_kernel<<<2, 256>>>(x, y, n);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
