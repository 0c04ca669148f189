// finds: out of bounds, block (0,0,0), thread (16,0,0), says parameters
//
// The kernel has sixteen weights for a parameter, and twenty threads.
#include <cuda_runtime.h>

struct Weights {
  float at[16];
};

__global__ void weigh_kernel(float* y, const __grid_constant__ Weights w) {
  const float* weights = w.at;
  y[threadIdx.x] = weights[threadIdx.x];  // <- here
}

int main() {
  const Weights w = {{1, 2, 3, 4}};
  float* y = nullptr;
  cudaMalloc(&y, 20 * sizeof *y);
  weigh_kernel<<<1, 20>>>(y, w);
  return cudaDeviceSynchronize() != cudaSuccess;
}
