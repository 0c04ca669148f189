// finds: race, block (1,0,0)
//
// A block reads what another one writes, and only the block is synchronised.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void shift_kernel(float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = i;  // <- here
  cg::this_thread_block().sync();
  y[i] = x[(i + blockDim.x) % n];  // <- other
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
