// finds: nothing
//
// The launch says that it will.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

__global__ void shift_kernel(int* x, int n) {
  const auto grid = cooperative_groups::this_grid();
  const int i = grid.thread_rank();
  const int value = x[(i + 1) % n];
  grid.sync();
  x[i] = value;
}

int main() {
  int n = 512, *x = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMemset(x, 0, n * sizeof *x);
  void* arguments[] = {&x, &n};
  cudaLaunchCooperativeKernel((void*)shift_kernel, 4, 128, arguments);
  return cudaDeviceSynchronize() != cudaSuccess;
}
