// finds: nothing
//
// A kernel of its own halves the count when all have counted.
#include <cuda_runtime.h>

__global__ void count_kernel(unsigned* count, const float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (x[i] == 0) atomicAdd(count, 1u);
}

__global__ void halve_kernel(unsigned* count) { *count /= 2; }

int main() {
  const int n = 1 << 17;
  float* x = nullptr;
  unsigned* count = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&count, sizeof *count);
  cudaMemset(x, 0, n * sizeof *x);
  cudaMemset(count, 0, sizeof *count);
  count_kernel<<<n / 256, 256>>>(count, x);
  halve_kernel<<<1, 1>>>(count);
  return cudaDeviceSynchronize() != cudaSuccess;
}
