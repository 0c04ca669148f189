// finds: race, thread (0,0,0)
//
// All threads of a large grid count by an atomic whose answer nobody needs, and
// one of the last block stores to their count as if they were done.
#include <cuda_runtime.h>

__global__ void count_kernel(unsigned* count, const float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (x[i] == 0) atomicAdd(count, 1u);                               // <- here
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) *count /= 2;  // <- other
}

int main() {
  const int n = 1 << 17;
  float* x = nullptr;
  unsigned* count = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&count, sizeof *count);
  cudaMemset(x, 0, n * sizeof *x);
  cudaMemset(count, 0, sizeof *count);
  count_kernel<<<n / 256, 256>>>(count, x);
  return cudaDeviceSynchronize() != cudaSuccess;
}
