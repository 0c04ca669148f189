// finds: nothing
//
// The latch waits for as many threads as come to it.
#include <cuda_runtime.h>

#include <cuda/latch>
#include <new>

using Latch = cuda::latch<cuda::thread_scope_block>;

__global__ void meet_kernel(int* y) {
  __shared__ alignas(Latch) char room[sizeof(Latch)];
  auto& latch = *reinterpret_cast<Latch*>(room);
  if (threadIdx.x == 0) new (room) Latch(64);
  __syncthreads();
  latch.arrive_and_wait();
  y[threadIdx.x] = 1;
}

int main() {
  int* y = nullptr;
  cudaMalloc(&y, 64 * sizeof *y);
  meet_kernel<<<1, 64>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
