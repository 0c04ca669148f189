// finds: nothing
//
// All meet once more before one of them ends.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(4, 1, 1) shift_kernel(int* y) {
  __shared__ int mine;
  const auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) mine = blockIdx.x;
  cluster.sync();
  const unsigned next = (cluster.block_rank() + 1) % 4;
  const int value = *cluster.map_shared_rank(&mine, next);
  cluster.sync();
  if (threadIdx.x == 0) y[blockIdx.x] = value;
}

int main() {
  int* y = nullptr;
  cudaMalloc(&y, 8 * sizeof *y);
  shift_kernel<<<8, 32>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
