// finds: race, block (1,0,0), thread (0,0,0)
//
// Several threads may find that there is no parent yet, and each stores another
// one. Which of them others read is open, and which of them stays.
#include <cuda_runtime.h>

__global__ void search_kernel(int* parent) {
  if (threadIdx.x == 0 && *parent == -1)  // <- here
    *parent = blockIdx.x;                 // <- other
}

int main() {
  int* parent = nullptr;
  cudaMalloc(&parent, sizeof *parent);
  cudaMemset(parent, 0xff, sizeof *parent);
  search_kernel<<<4, 32>>>(parent);
  return cudaDeviceSynchronize() != cudaSuccess;
}
