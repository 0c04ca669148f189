// finds: nothing
//
// Both are atomic.
#include <cuda_runtime.h>

__global__ void count_kernel(const int* x, int* evens) {
  const int value = x[threadIdx.x];
  if (value % 2 == 0) atomicAdd(evens, 1);
  if (value == 7) atomicAdd(evens, 100);
}

int main() {
  const int n = 64;
  int host[n] = {}, *x = nullptr, *evens = nullptr;
  for (int i = 0; i < n; ++i) host[i] = i;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&evens, sizeof *evens);
  cudaMemcpy(x, host, n * sizeof *x, cudaMemcpyHostToDevice);
  cudaMemset(evens, 0, sizeof *evens);
  count_kernel<<<1, n>>>(x, evens);
  return cudaDeviceSynchronize() != cudaSuccess;
}
