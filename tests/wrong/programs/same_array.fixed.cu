// finds: nothing
//
// One array, of which the second part begins behind the first.
#include <cuda_runtime.h>

extern __shared__ int counts[];

__global__ void both(float* y) {
  float* const sums = reinterpret_cast<float*>(counts + blockDim.x);
  const int t = threadIdx.x;
  counts[t] = t;
  sums[t] = 0.5f * t;
  __syncthreads();
  y[t] = counts[blockDim.x - 1 - t] + sums[blockDim.x - 1 - t];
}

int main() {
  const int n = 32;
  float* y = nullptr;
  cudaMalloc(&y, n * sizeof *y);
  both<<<1, n, n*(sizeof(int) + sizeof(float))>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
