// finds: nothing
//
// Each pair of warps has a barrier of its own.
#include <cuda_runtime.h>

__device__ void meet(int barrier) {
  asm volatile("bar.sync %0, 64;" ::"r"(barrier) : "memory");
}

__global__ void reverse_kernel(float* y) {
  __shared__ float tile[128];
  const int i = threadIdx.x;
  tile[i] = i;
  meet(1 + i / 64);
  y[i] = tile[i ^ 63];
}

int main() {
  float* y = nullptr;
  cudaMalloc(&y, 128 * sizeof *y);
  reverse_kernel<<<1, 128>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
