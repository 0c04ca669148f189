// finds: note same array, says by the name counts what was stored by the name
// sums
//
// Two arrays are declared without a size, and both begin where the block's
// dynamic shared memory does.
#include <cuda_runtime.h>

extern __shared__ int counts[];
extern __shared__ float sums[];

__global__ void both(float* y) {
  const int t = threadIdx.x;
  counts[t] = t;
  sums[t] = 0.5f * t;
  __syncthreads();
  y[t] = counts[blockDim.x - 1 - t];  // <- here
  y[t] += sums[blockDim.x - 1 - t];
}

int main() {
  const int n = 32;
  float* y = nullptr;
  cudaMalloc(&y, n * sizeof *y);
  both<<<1, n, n*(sizeof(int) + sizeof(float))>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
