// finds: error, says the __constant__ variables of the program take 80000 bytes
//
// A table that is too large for constant memory: ptxas refuses it.
#include <cuda_runtime.h>

constexpr int kEntries = 20000;

__constant__ float table[kEntries];

__global__ void look_up(const int* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = table[x[i]];
}

int main() {
  const int n = 64;
  int* x = nullptr;
  float* y = nullptr;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, n * sizeof *y);
  cudaMemset(x, 0, n * sizeof *x);
  look_up<<<1, n>>>(x, y, n);
  return cudaDeviceSynchronize() != cudaSuccess;
}
