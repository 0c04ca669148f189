// finds: nothing
//
// The whole grid meets at a barrier.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void shift_kernel(float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = i;
  cg::this_grid().sync();
  y[i] = x[(i + blockDim.x) % n];
}

int main() {
  int n = 512;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  void* arguments[] = {&x, &y, &n};
  cudaLaunchCooperativeKernel(shift_kernel, n / 256, 256, arguments);
  return cudaDeviceSynchronize() != cudaSuccess;
}
