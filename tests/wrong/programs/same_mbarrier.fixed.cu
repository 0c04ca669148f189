// finds: nothing
//
// One thread sets up the barrier for all, before any of them uses it.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cuda/barrier>

using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void mirror_kernel(const float* x, float* y) {
  __shared__ float tile[64];
  __shared__ alignas(Barrier) char room[sizeof(Barrier)];
  auto& bar = *reinterpret_cast<Barrier*>(room);
  const int i = threadIdx.x;
  if (i == 0) init(&bar, 64);
  __syncthreads();
  tile[i] = x[i];
  bar.arrive_and_wait();
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
