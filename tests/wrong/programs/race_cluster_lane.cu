// finds: race, says the write by thread
//
// One lane arrives for its warp, whose other lanes it has not met: that is no
// better in a cluster.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cuda/barrier>

using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void __cluster_dims__(2, 1, 1)
    mirror_kernel(const float* x, float* y) {
  __shared__ float tile[64];
  __shared__ alignas(Barrier) char room[sizeof(Barrier)];
  auto& bar = *reinterpret_cast<Barrier*>(room);
  const int i = threadIdx.x, first = blockIdx.x * 64;
  if (i == 0) init(&bar, 2);
  cooperative_groups::this_cluster().sync();
  tile[i] = x[first + i];  // <- other
  if (i % 32 == 0) (void)bar.arrive();
  bar.wait_parity(false);
  y[first + i] = tile[63 - i];  // <- here
}

int main() {
  const int n = 2 * 64;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  mirror_kernel<<<2, 64>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
