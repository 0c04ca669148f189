// finds: nothing
//
// The loop of the CUDA guide: a plain read to begin with, and again until the
// swap has found what was read.
#include <cuda_runtime.h>

__global__ void ticket_kernel(int* next, int* y) {
  int ticket = *next, assumed;
  do {
    assumed = ticket;
    ticket = atomicCAS(next, assumed, assumed + 1);
  } while (ticket != assumed);
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
