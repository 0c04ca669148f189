// finds: nothing
//
// The kernel has sixteen weights for a parameter, and as many threads.
#include <cuda_runtime.h>

struct Weights {
  float at[16];
};

__global__ void weigh_kernel(float* y, const __grid_constant__ Weights w) {
  const float* weights = w.at;
  y[threadIdx.x] = weights[threadIdx.x];
}

int main() {
  const Weights w = {{1, 2, 3, 4}};
  float* y = nullptr;
  cudaMalloc(&y, 16 * sizeof *y);
  weigh_kernel<<<1, 16>>>(y, w);
  return cudaDeviceSynchronize() != cudaSuccess;
}
