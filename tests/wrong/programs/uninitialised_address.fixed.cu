// finds: nothing
//
// The host says where all elements go.
#include <cuda_runtime.h>

__global__ void scatter_kernel(const int* where, int* y) {
  const int to = where[threadIdx.x] & 63;
  atomicExch(&y[to], threadIdx.x);
}

int main() {
  int *where = nullptr, *y = nullptr;
  cudaMalloc(&where, 64 * sizeof *where);
  cudaMalloc(&y, 64 * sizeof *y);
  cudaMemset(where, 0, 64 * sizeof *where);
  scatter_kernel<<<1, 64>>>(where, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
