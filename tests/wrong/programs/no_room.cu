// finds: livelock, says there is no room
//
// Blocks wait for one another that no GPU holds at once: the last ones begin
// only when others have ended.
#include <cuda_runtime.h>

__global__ void meet_kernel(int* arrived, int all) {
  if (threadIdx.x != 0) return;
  atomicAdd(arrived, 1);
  while (*static_cast<volatile int*>(arrived) < all) {  // <- here
  }
}

int main() {
  const int blocks = 512;
  int* arrived = nullptr;
  cudaMalloc(&arrived, sizeof *arrived);
  cudaMemset(arrived, 0, sizeof *arrived);
  meet_kernel<<<blocks, 1024>>>(arrived, blocks);
  return cudaDeviceSynchronize() != cudaSuccess;
}
