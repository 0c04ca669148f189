// finds: race, block (0,0,0), says Threads of a block need __syncthreads()
//
// Thread 0 fetches the next item before the others have read the last one. It
// has seen a flag, too, but that is not what the others lack.
#include <cuda_runtime.h>

__global__ void fetch_kernel(int* y, int* next, int n) {
  __shared__ int item;
  while (true) {
    if (threadIdx.x == 0) {
      __threadfence();
      const bool more = atomicAdd(next, 0) < n;
      item = more ? atomicAdd(next, 1) : n;  // <- here
    }
    __syncthreads();
    const int now = item;  // <- other
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
