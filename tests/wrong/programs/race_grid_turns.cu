// finds: race, says Only atomics
//
// The grid meets before it reads, and not before it writes again in the next
// turn.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void turns_kernel(float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int turn = 0; turn < 3; ++turn) {
    x[i] = turn + i;  // <- other
    cg::this_grid().sync();
    y[i] += x[n - 1 - i];  // <- here
  }
}

int main() {
  int n = 512;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(y, 0, n * sizeof *y);
  void* arguments[] = {&x, &y, &n};
  cudaLaunchCooperativeKernel(turns_kernel, n / 128, 128, arguments);
  return cudaDeviceSynchronize() != cudaSuccess;
}
