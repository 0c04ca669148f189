// finds: nothing
//
// A barrier stands between writing and reading.
#include <cuda_runtime.h>

__global__ void spread_kernel(float4* packs, float* y) {
  const int i = threadIdx.x;
  if (i < 32) packs[i] = make_float4(i, i, i, i);
  __syncthreads();
  y[i] = reinterpret_cast<float*>(packs)[(i + 32) % 128];
}

int main() {
  float4* packs = nullptr;
  float* y = nullptr;
  cudaMalloc(&packs, 32 * sizeof *packs);
  cudaMalloc(&y, 128 * sizeof *y);
  spread_kernel<<<1, 128>>>(packs, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
