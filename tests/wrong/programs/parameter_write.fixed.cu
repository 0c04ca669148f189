// finds: nothing
//
// A copy of a kernel's parameter may be changed.
#include <cuda_runtime.h>

struct Weights {
  float at[16];
};

__device__ __noinline__ void halve(float* weight) { *weight /= 2; }

__global__ void weigh_kernel(float* y, Weights w) {
  halve(&w.at[threadIdx.x]);
  y[threadIdx.x] = w.at[threadIdx.x];
}

int main() {
  const Weights w = {{1, 2, 3, 4}};
  float* y = nullptr;
  cudaMalloc(&y, 16 * sizeof *y);
  weigh_kernel<<<1, 16>>>(y, w);
  return cudaDeviceSynchronize() != cudaSuccess;
}
