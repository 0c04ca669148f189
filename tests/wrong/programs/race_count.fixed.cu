// finds: nothing
//
// A barrier stands between the zero and the count.
#include <cuda_runtime.h>

__global__ void count_kernel(unsigned* counts, const float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) counts[blockIdx.x] = 0;
  __syncthreads();
  if (x[i] == 0) atomicAdd(counts + blockIdx.x, 1u);
}

int main() {
  const int n = 1 << 17;
  float* x = nullptr;
  unsigned* counts = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&counts, n / 256 * sizeof *counts);
  cudaMemset(x, 0, n * sizeof *x);
  count_kernel<<<n / 256, 256>>>(counts, x);
  return cudaDeviceSynchronize() != cudaSuccess;
}
