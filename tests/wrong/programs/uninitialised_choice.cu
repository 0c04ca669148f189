// finds: uninitialised read, block (0,0,0), thread (20,0,0), says a variable is
// read
//
// Threads behind the end have no value, and give it to the others all the same.
#include <cuda_runtime.h>

__global__ void last_kernel(const float* x, float* y, int n) {
  float mine;
  if (threadIdx.x < n) mine = x[threadIdx.x];
  y[threadIdx.x] = __shfl_down_sync(0xffffffff, mine, 1);  // <- here
}

int main() {
  const int n = 20;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, 32 * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  last_kernel<<<1, 32>>>(x, y, n);
  return cudaDeviceSynchronize() != cudaSuccess;
}
