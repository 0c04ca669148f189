// finds: race, block (1,0,0), says atomic for a block alone
//
// atomicAdd_block is atomic for the threads of one block; two blocks may still
// lose what the other one adds. A launch of so many threads may use all cores.
#include <cuda_runtime.h>

__global__ void count_kernel(int* y) {
  atomicAdd_block(y, 1);  // <- here
}

int main() {
  int* y = nullptr;
  cudaMalloc(&y, sizeof *y);
  cudaMemset(y, 0, sizeof *y);
  count_kernel<<<256, 256>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
