// finds: nothing
//
// A second barrier stands between the read and the next fetch.
#include <cuda_runtime.h>

__global__ void fetch_kernel(int* y, int* next, int n) {
  __shared__ int item;
  while (true) {
    if (threadIdx.x == 0) {
      __threadfence();
      const bool more = atomicAdd(next, 0) < n;
      item = more ? atomicAdd(next, 1) : n;
    }
    __syncthreads();
    const int now = item;
    __syncthreads();
    if (now >= n) break;
    y[now * blockDim.x + threadIdx.x] = now;
  }
}

int main() {
  const int n = 8, threads = 64;
  int* y = nullptr;
  int* next = nullptr;
  cudaMalloc(&y, n * threads * sizeof *y);
  cudaMalloc(&next, sizeof *next);
  cudaMemset(next, 0, sizeof *next);
  fetch_kernel<<<2, threads>>>(y, next, n);
  return cudaDeviceSynchronize() != cudaSuccess;
}
