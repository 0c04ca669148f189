// finds: nothing
//
// A barrier orders global memory for the block, too.
#include <cuda_runtime.h>

__global__ void shift_kernel(const float* x, float* y, float* scratch) {
  const int i = threadIdx.x;
  scratch[i] = 2 * x[i];
  __syncthreads();
  y[i] = scratch[(i + 1) % 256];
}

int main() {
  float *x = nullptr, *y = nullptr, *scratch = nullptr;
  cudaMalloc(&x, 256 * sizeof *x);
  cudaMalloc(&y, 256 * sizeof *y);
  cudaMalloc(&scratch, 256 * sizeof *scratch);
  cudaMemset(x, 0, 256 * sizeof *x);
  shift_kernel<<<1, 256>>>(x, y, scratch);
  return cudaDeviceSynchronize() != cudaSuccess;
}
