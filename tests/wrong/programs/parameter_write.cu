// finds: read only, block (0,0,0), thread (0,0,0), says parameters
//
// The parameters of a kernel are constants, whatever a cast says.
#include <cuda_runtime.h>

struct Weights {
  float at[16];
};

__device__ __noinline__ void halve(float* weight) {
  *weight /= 2;  // <- here
}

__global__ void weigh_kernel(float* y, const __grid_constant__ Weights w) {
  halve(const_cast<float*>(&w.at[threadIdx.x]));
  y[threadIdx.x] = w.at[threadIdx.x];
}

int main() {
  const Weights w = {{1, 2, 3, 4}};
  float* y = nullptr;
  cudaMalloc(&y, 16 * sizeof *y);
  weigh_kernel<<<1, 16>>>(y, w);
  return cudaDeviceSynchronize() != cudaSuccess;
}
