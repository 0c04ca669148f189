// finds: race, block (2,0,0), thread (0,0,0)
//
// The cluster's barrier tells its first block what the second one has written.
// The first block announces it to others, and has forgotten the barrier.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1)
    relay_kernel(float* values, int* flag) {
  cg::this_cluster().sync();
  if (blockIdx.x == 1 && threadIdx.x == 0) values[0] = 1;  // <- other
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    __threadfence();
    atomicExch(flag, 1);
  }
  if (blockIdx.x == 2 && threadIdx.x == 0) {
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence();
    values[1] = values[0];  // <- here
  }
}

int main() {
  float* values = nullptr;
  int* flag = nullptr;
  cudaMalloc(&values, 2 * sizeof *values);
  cudaMalloc(&flag, sizeof *flag);
  cudaMemset(flag, 0, sizeof *flag);
  relay_kernel<<<4, 64>>>(values, flag);
  return cudaDeviceSynchronize() != cudaSuccess;
}
