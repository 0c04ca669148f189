// finds: uninitialised read, block (0,0,0), thread (0,0,0), says a variable is
// read
//
// The sum begins with whatever the register holds.
#include <cuda_runtime.h>

__global__ void row_sums_kernel(const float* x, float* y, int columns) {
  float sum;
  for (int c = 0; c < columns; ++c)
    sum += x[threadIdx.x * columns + c];  // <- here
  y[threadIdx.x] = sum;                   // <- other
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
