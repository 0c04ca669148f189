// finds: nothing
//
// All of a thread's own array is filled.
#include <cuda_runtime.h>

__global__ void pick_kernel(const int* which, int* y) {
  int own[8];
#pragma unroll 1
  for (int k = 0; k < 8; ++k) own[which[k]] = k;
  y[threadIdx.x] = own[threadIdx.x];
}

int main() {
  int host[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  int *which = nullptr, *y = nullptr;
  cudaMalloc(&which, sizeof host);
  cudaMalloc(&y, sizeof host);
  cudaMemcpy(which, host, sizeof host, cudaMemcpyHostToDevice);
  pick_kernel<<<1, 8>>>(which, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
