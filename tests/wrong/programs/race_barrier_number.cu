// finds: race, block (0,0,0)
//
// Barriers with a number of threads order those that come to them: the second
// pair of warps meets at one where the first is not.
#include <cuda_runtime.h>

__device__ void meet(int barrier) {
  asm volatile("bar.sync %0, 64;" ::"r"(barrier) : "memory");
}

__global__ void shift_kernel(float* y) {
  __shared__ float tile[128];
  const int i = threadIdx.x;
  tile[i] = i;  // <- other
  meet(1 + i / 64);
  y[i] = tile[(i + 64) % 128];  // <- here
}

int main() {
  float* y = nullptr;
  cudaMalloc(&y, 128 * sizeof *y);
  shift_kernel<<<1, 128>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
