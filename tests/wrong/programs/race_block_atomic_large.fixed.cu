// finds: nothing
//
// All blocks add by a full atomic.
#include <cuda_runtime.h>

__global__ void count_kernel(int* y) { atomicAdd(y, 1); }

int main() {
  int* y = nullptr;
  cudaMalloc(&y, sizeof *y);
  cudaMemset(y, 0, sizeof *y);
  count_kernel<<<256, 256>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
