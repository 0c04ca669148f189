// finds: race, says Only atomics
//
// Each block makes a row out of the one above it, column by column. It goes on
// while the column that it needs is still being written.
#include <cuda_runtime.h>

__global__ void rows_kernel(int* x, volatile int* done, int columns) {
  int* row = x + blockIdx.x * columns;
  for (int i = 0; i < columns; ++i) {
    int above = 1;
    if (blockIdx.x > 0) {
      while (done[blockIdx.x - 1] < i) {
      }
      __threadfence();
      above = row[i - columns];  // <- here
    }
    row[i] = above + i;  // <- other
    __threadfence();
    done[blockIdx.x] = i + 1;
  }
}

int main() {
  int *x = nullptr, *done = nullptr;
  cudaMalloc(&x, 16 * 16 * sizeof *x);
  cudaMalloc(&done, 16 * sizeof *done);
  cudaMemset(done, 0, 16 * sizeof *done);
  rows_kernel<<<16, 1>>>(x, done, 16);
  return cudaDeviceSynchronize() != cudaSuccess;
}
