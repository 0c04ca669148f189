// finds: race, block (0,0,0)
//
// The compare-and-swap makes sure of what was read; who uses it whether the
// swap succeeded or not uses what nothing has verified.
#include <cuda_runtime.h>

__global__ void ticket_kernel(int* next, int* y) {
  const int ticket = *next;             // <- other
  atomicCAS(next, ticket, ticket + 1);  // <- here
  y[blockIdx.x * blockDim.x + threadIdx.x] = ticket;
}

int main() {
  int *next = nullptr, *y = nullptr;
  cudaMalloc(&next, sizeof *next);
  cudaMalloc(&y, 128 * sizeof *y);
  cudaMemset(next, 0, sizeof *next);
  ticket_kernel<<<2, 64>>>(next, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
