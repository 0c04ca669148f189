// finds: nothing
//
// A compare-and-swap lets one thread win, and no store is lost.
#include <cuda_runtime.h>

__global__ void search_kernel(int* parent) {
  if (threadIdx.x == 0) atomicCAS(parent, -1, blockIdx.x);
}

int main() {
  int* parent = nullptr;
  cudaMalloc(&parent, sizeof *parent);
  cudaMemset(parent, 0xff, sizeof *parent);
  search_kernel<<<4, 32>>>(parent);
  return cudaDeviceSynchronize() != cudaSuccess;
}
