// finds: nothing
//
// The barrier is for those that come.
#include <cuda/barrier>

__global__ void fill_kernel(int* y) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(Barrier) unsigned char room[sizeof(Barrier)];
  Barrier& barrier = *reinterpret_cast<Barrier*>(room);
  const int i = threadIdx.x;
  if (i == 0) init(&barrier, 32);
  __syncthreads();
  barrier.arrive_and_wait();
  y[i] = i;
}

int main() {
  int* y = nullptr;
  cudaMalloc(&y, 32 * sizeof *y);
  fill_kernel<<<1, 32>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
