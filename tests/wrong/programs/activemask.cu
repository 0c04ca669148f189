// finds: note activemask, block (0,0,0), thread (0,0,0)
//
// activemask names the lanes that happen to run together, not those in the
// branch.
#include <cuda_runtime.h>

__global__ void sum_kernel(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  if (i < n) {
    const unsigned mask = __activemask();
    const float v = x[i];
    y[i] = v + __shfl_sync(mask, v, 0);  // <- here
  }
}

int main() {
  const int n = 256;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  cudaMemset(y, 0, n * sizeof *y);
  sum_kernel<<<1, 32>>>(x, y, 16);
  return cudaDeviceSynchronize() != cudaSuccess;
}
