// finds: livelock, block (0,0,0), thread (0,0,0)
//
// The latch waits for one thread more than come to it. Its loop reads a clock
// between its looks, and no time will ever end it.
#include <cuda_runtime.h>

#include <cuda/latch>
#include <new>

using Latch = cuda::latch<cuda::thread_scope_block>;

__global__ void meet_kernel(int* y) {
  __shared__ alignas(Latch) char room[sizeof(Latch)];
  auto& latch = *reinterpret_cast<Latch*>(room);
  if (threadIdx.x == 0) new (room) Latch(65);
  __syncthreads();
  latch.arrive_and_wait();  // <- here
  y[threadIdx.x] = 1;
}

int main() {
  int* y = nullptr;
  cudaMalloc(&y, 64 * sizeof *y);
  meet_kernel<<<1, 64>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
