// finds: nothing
//
// Nobody has set the fourth element of a pack. It may be copied with the
// others, and nobody uses it.
#include <cuda_runtime.h>

__global__ void fill_kernel(float4* x) {
  x[threadIdx.x].x = 1;
  x[threadIdx.x].y = 2;
  x[threadIdx.x].z = 3;
}

__global__ void copy_kernel(const float4* x, float4* y) {
  y[threadIdx.x] = x[threadIdx.x];
}

__global__ void sum_kernel(const float4* x, float* y) {
  const float4 pack = x[threadIdx.x];
  y[threadIdx.x] = pack.x + pack.y + pack.z;
}

int main() {
  float4 *x = nullptr, *copy = nullptr;
  float* y = nullptr;
  cudaMalloc(&x, 32 * sizeof *x);
  cudaMalloc(&copy, 32 * sizeof *copy);
  cudaMalloc(&y, 32 * sizeof *y);
  fill_kernel<<<1, 32>>>(x);
  copy_kernel<<<1, 32>>>(x, copy);
  sum_kernel<<<1, 32>>>(copy, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
