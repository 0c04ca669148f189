// finds: trap, says cudaLaunchCooperativeKernel
//
// A grid that may not wait for all its blocks waits for them.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

__global__ void shift_kernel(int* x, int n) {
  const auto grid = cooperative_groups::this_grid();
  const int i = grid.thread_rank();
  const int value = x[(i + 1) % n];
  grid.sync();  // <- here
  x[i] = value;
}

int main() {
  int n = 512, *x = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMemset(x, 0, n * sizeof *x);
  shift_kernel<<<4, 128>>>(x, n);
  return cudaDeviceSynchronize() != cudaSuccess;
}
