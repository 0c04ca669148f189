// finds: nothing
//
// All threads of the cluster come to its barrier.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1)
    swap_kernel(const float* x, float* y) {
  __shared__ float tile[64];
  const auto cluster = cg::this_cluster();
  const int i = threadIdx.x, k = blockIdx.x * 64 + i;
  tile[i] = x[k];
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;");
  y[k] = tile[i];
}

int main() {
  const int n = 64;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, 2 * n * sizeof *x);
  cudaMalloc(&y, 2 * n * sizeof *y);
  cudaMemset(x, 0, 2 * n * sizeof *x);
  swap_kernel<<<2, n>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
