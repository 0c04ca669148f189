// finds: nothing
//
// Each thread gives back what it took.
#include <cuda_runtime.h>

__global__ void sum_kernel(int* y) {
  int* const list = static_cast<int*>(malloc(4096));
  list[0] = threadIdx.x;
  atomicAdd(y, list[0]);
  free(list);
}

int main() {
  int* y = nullptr;
  cudaMalloc(&y, sizeof *y);
  cudaMemset(y, 0, sizeof *y);
  for (int i = 0; i < 16; ++i) sum_kernel<<<1, 256>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
