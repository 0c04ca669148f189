// finds: deadlock, says mbarrier
//
// The barrier is for fewer threads than come. The last of them begin its next
// phase, and wait for others.
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
