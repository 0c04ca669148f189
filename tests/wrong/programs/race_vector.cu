// finds: race, block (0,0,0)
//
// Four values are written by one store, and other threads read them one by one.
#include <cuda_runtime.h>

__global__ void spread_kernel(float4* packs, float* y) {
  const int i = threadIdx.x;
  if (i < 32) packs[i] = make_float4(i, i, i, i);          // <- other
  y[i] = reinterpret_cast<float*>(packs)[(i + 32) % 128];  // <- here
}

int main() {
  float4* packs = nullptr;
  float* y = nullptr;
  cudaMalloc(&packs, 32 * sizeof *packs);
  cudaMalloc(&y, 128 * sizeof *y);
  spread_kernel<<<1, 128>>>(packs, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
