// finds: uninitialised read, block (0,0,0), thread (40,0,0), says It is an
// address
//
// Where the last elements go, nobody has said.
#include <cuda_runtime.h>

__global__ void scatter_kernel(const int* where, int* y) {
  const int to = where[threadIdx.x] & 63;  // <- here
  atomicExch(&y[to], threadIdx.x);         // <- other
}

int main() {
  int *where = nullptr, *y = nullptr;
  cudaMalloc(&where, 64 * sizeof *where);
  cudaMalloc(&y, 64 * sizeof *y);
  cudaMemset(where, 0, 40 * sizeof *where);
  scatter_kernel<<<1, 64>>>(where, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
