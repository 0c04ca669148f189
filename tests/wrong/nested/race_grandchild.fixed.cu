// finds: nothing
//
// The parent looks before it launches the child.
#include <cuda_runtime.h>

__global__ void add_kernel(int* x, int value) { x[threadIdx.x] += value; }
__global__ void choose_kernel(int* x) {
  if (x[0] == 0) add_kernel<<<1, 32>>>(x, 3);
}
__global__ void parent_kernel(int* x, int* seen) {
  *seen = x[0];
  choose_kernel<<<1, 1>>>(x);
}

int main() {
  int *x = nullptr, *seen = nullptr;
  cudaMalloc(&x, 32 * sizeof *x);
  cudaMalloc(&seen, sizeof *seen);
  cudaMemset(x, 0, 32 * sizeof *x);
  parent_kernel<<<1, 1>>>(x, seen);
  return cudaDeviceSynchronize() != cudaSuccess;
}
