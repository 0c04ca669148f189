// finds: out of bounds, block (0,0,0), says the 8388608 bytes of the heap were
//
// What a kernel takes from its heap stays there when it ends: 1 MiB a launch.
#include <cuda_runtime.h>

__global__ void sum_kernel(int* y) {
  int* const list = static_cast<int*>(malloc(4096));
  list[0] = threadIdx.x;  // <- here
  atomicAdd(y, list[0]);
}

int main() {
  int* y = nullptr;
  cudaMalloc(&y, sizeof *y);
  cudaMemset(y, 0, sizeof *y);
  for (int i = 0; i < 16; ++i) sum_kernel<<<1, 256>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
