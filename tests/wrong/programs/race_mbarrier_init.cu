// finds: race, block (0,0,0), says Lanes of a warp
//
// Threads arrive at a barrier that one of them has yet to set up.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cuda/barrier>

using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void mirror_kernel(const float* x, float* y) {
  __shared__ float tile[64];
  __shared__ alignas(Barrier) char room[sizeof(Barrier)];
  auto& bar = *reinterpret_cast<Barrier*>(room);
  const int i = threadIdx.x;
  if (i == 0) init(&bar, 64);  // <- other
  tile[i] = x[i];
  bar.arrive_and_wait();  // <- here
  y[i] = tile[63 - i];
}

int main() {
  const int n = 64;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  mirror_kernel<<<1, n>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
