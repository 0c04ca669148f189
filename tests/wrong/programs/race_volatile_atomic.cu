// finds: race, block (0,0,0), thread (32,0,0)
//
// Two threads store volatile values, and a barrier orders them before all that
// follows. What another thread adds then, nothing orders with a plain read.
#include <cuda_runtime.h>

__global__ void ask_kernel(int* sum, int* y) {
  if (threadIdx.x < 2) *static_cast<volatile int*>(sum) = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 64) atomicAdd(sum, 1);  // <- other
  if (threadIdx.x == 32) *y = *sum;          // <- here
}

int main() {
  int *sum = nullptr, *y = nullptr;
  cudaMalloc(&sum, sizeof *sum);
  cudaMalloc(&y, sizeof *y);
  ask_kernel<<<1, 96>>>(sum, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
