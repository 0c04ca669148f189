// finds: race, block (0,0,0)
//
// Threads of a block exchange values through global memory without a barrier.
#include <cuda_runtime.h>

__global__ void shift_kernel(const float* x, float* y, float* scratch) {
  const int i = threadIdx.x;
  scratch[i] = 2 * x[i];          // <- here
  y[i] = scratch[(i + 1) % 256];  // <- other
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
