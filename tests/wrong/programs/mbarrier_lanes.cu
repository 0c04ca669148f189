// finds: bad barrier, says its warp's lanes arrive 32 times
//
// The barrier is for fewer threads than come. What a warp's lanes do by one
// instruction is one arrival, which must not go past the end of a phase.
#include <cuda/barrier>

__global__ void fill_kernel(int* y) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(Barrier) unsigned char room[sizeof(Barrier)];
  Barrier& barrier = *reinterpret_cast<Barrier*>(room);
  const int i = threadIdx.x;
  if (i == 0) init(&barrier, 20);
  __syncthreads();
  barrier.arrive_and_wait();  // <- here
  y[i] = i;
}

int main() {
  int* y = nullptr;
  cudaMalloc(&y, 32 * sizeof *y);
  fill_kernel<<<1, 32>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
