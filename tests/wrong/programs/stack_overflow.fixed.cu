// finds: nothing
//
// The recursion ends at zero and below.
#include <cuda_runtime.h>

__device__ __noinline__ int hash_of(int n) {
  return n <= 0 ? 1 : 31 * hash_of(n - 1) + n;
}

__global__ void hash_kernel(const int* x, int* y) {
  y[threadIdx.x] = hash_of(x[threadIdx.x]);
}

int main() {
  int host[32] = {};
  for (int i = 0; i < 32; ++i) host[i] = i == 5 ? -1 : i;
  int *x = nullptr, *y = nullptr;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&y, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  hash_kernel<<<1, 32>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
