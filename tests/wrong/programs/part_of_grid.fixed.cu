// finds: nothing
//
// A block without elements of its own comes to the grid's barrier, too.
#include <cooperative_groups.h>

__global__ void add_up(const int* x, int* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&sums[blockIdx.x], x[i]);
  cooperative_groups::this_grid().sync();
  if (i == 0)
    for (int b = 1; b < gridDim.x; ++b) sums[0] += sums[b];
}

int main() {
  constexpr int kBlocks = 4, kThreads = 64;
  int n = 3 * kThreads;
  int *x = nullptr, *sums = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&sums, kBlocks * sizeof *sums);
  cudaMemset(x, 0, n * sizeof *x);
  cudaMemset(sums, 0, kBlocks * sizeof *sums);
  void* arguments[] = {&x, &sums, &n};
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(add_up), kBlocks,
                              kThreads, arguments);
  return cudaDeviceSynchronize() != cudaSuccess;
}
