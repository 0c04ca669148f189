// finds: nothing
//
// It begins with zero.
#include <cuda_runtime.h>

__global__ void row_sums_kernel(const float* x, float* y, int columns) {
  float sum = 0;
  for (int c = 0; c < columns; ++c) sum += x[threadIdx.x * columns + c];
  y[threadIdx.x] = sum;
}

int main() {
  const int rows = 32, columns = 5;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, rows * columns * sizeof *x);
  cudaMalloc(&y, rows * sizeof *y);
  cudaMemset(x, 0, rows * columns * sizeof *x);
  row_sums_kernel<<<1, rows>>>(x, y, columns);
  return cudaDeviceSynchronize() != cudaSuccess;
}
