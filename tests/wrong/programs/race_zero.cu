// finds: race, block (1,0,0), thread (0,0,0)
//
// Block 0 sets the sum to zero, perhaps when others have already added. Its own
// later atomic must not hide that.
#include <cuda_runtime.h>

__global__ void sum_kernel(const float* x, float* y) {
  if (blockIdx.x == 0 && threadIdx.x == 0) *y = 0;  // <- other
  __syncthreads();
  atomicAdd(y, x[blockIdx.x * blockDim.x + threadIdx.x]);  // <- here
}

int main() {
  const int n = 256;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  sum_kernel<<<n / 32, 32>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
