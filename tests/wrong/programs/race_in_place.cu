// finds: race, says other blocks race here as well
//
// A filter in place: neighbours read what is written. Two threads of a block
// are met first, but no __syncthreads() helps at the ends of the block.
#include <cuda_runtime.h>

__global__ void blur_kernel(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0 || i >= n - 1) return;
  const float sum = x[i - 1] + x[i] + x[i + 1];  // <- other
  x[i] = sum / 3;                                // <- here
}

int main() {
  const int n = 300;
  float* x = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMemset(x, 0, n * sizeof *x);
  blur_kernel<<<2, 256>>>(x, n);
  cudaDeviceSynchronize();
  cudaFree(x);
}
