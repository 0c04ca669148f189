// finds: race, block (0,0,0), says atomicAdd
//
// All threads add to one word, and each may lose what the others add.
#include <cuda_runtime.h>

__global__ void count_kernel(int* count) {
  count[0] += threadIdx.x;  // <- here
}

int main() {
  int* count = nullptr;
  cudaMalloc(&count, sizeof *count);
  cudaMemset(count, 0, sizeof *count);
  count_kernel<<<1, 64>>>(count);
  return cudaDeviceSynchronize() != cudaSuccess;
}
