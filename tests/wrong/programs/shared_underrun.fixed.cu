// finds: nothing
//
// Each thread takes its neighbour's value, if it has one.
#include <cuda_runtime.h>

__global__ void difference_kernel(float* y) {
  __shared__ float values[32];
  const int i = threadIdx.x;
  values[i] = i * i;
  __syncthreads();
  y[i] = i == 0 ? values[i] : values[i] - values[i - 1];
}

int main() {
  float* y = nullptr;
  cudaMalloc(&y, 32 * sizeof *y);
  difference_kernel<<<1, 32>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
