// finds: nothing
//
// Blocks wait for one another, and all of them fit on a GPU at once.
#include <cuda_runtime.h>

__global__ void meet_kernel(int* arrived, int all) {
  if (threadIdx.x != 0) return;
  atomicAdd(arrived, 1);
  while (*static_cast<volatile int*>(arrived) < all) {
  }
}

int main() {
  const int blocks = 128;
  int* arrived = nullptr;
  cudaMalloc(&arrived, sizeof *arrived);
  cudaMemset(arrived, 0, sizeof *arrived);
  meet_kernel<<<blocks, 1024>>>(arrived, blocks);
  return cudaDeviceSynchronize() != cudaSuccess;
}
