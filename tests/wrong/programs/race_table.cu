// finds: race, says by thread
// The block reads a table a few thousand times before one of its warps fills it
// anew, and nothing makes that warp wait for the others.
#include <cuda_runtime.h>

__global__ void walk(int* y, int steps) {
  __shared__ int table[256];
  table[threadIdx.x] = threadIdx.x;
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < steps; ++k) sum += table[(threadIdx.x + 32 * k) % 256];
  if (threadIdx.x < 32) table[threadIdx.x] = -1;  // <- here
  __syncthreads();
  y[threadIdx.x] = sum + table[0];
}

int main() {
  int* y = nullptr;
  cudaMalloc(&y, 256 * sizeof(int));
  walk<<<1, 256>>>(y, 400);
  cudaDeviceSynchronize();
  cudaFree(y);
}
