// finds: out of bounds, block (0,0,0), thread (0,0,0), says 4 bytes before
//
// Each thread takes its neighbour's value; the first has no neighbour.
#include <cuda_runtime.h>

__global__ void difference_kernel(float* y) {
  __shared__ float values[32];
  const int i = threadIdx.x;
  values[i] = i * i;
  __syncthreads();
  const float* before = values - 1;
  y[i] = values[i] - before[i];  // <- here
}

int main() {
  float* y = nullptr;
  cudaMalloc(&y, 32 * sizeof *y);
  difference_kernel<<<1, 32>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
