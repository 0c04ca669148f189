// finds: nothing
//
// Two threads store volatile values, and a barrier orders them before all that
// follows. Another one orders what a thread adds before a plain read.
#include <cuda_runtime.h>

__global__ void ask_kernel(int* sum, int* y) {
  if (threadIdx.x < 2) *static_cast<volatile int*>(sum) = threadIdx.x;
  __syncthreads();
  if (threadIdx.x == 64) atomicAdd(sum, 1);
  __syncthreads();
  if (threadIdx.x == 32) *y = *sum;
}

int main() {
  int *sum = nullptr, *y = nullptr;
  cudaMalloc(&sum, sizeof *sum);
  cudaMalloc(&y, sizeof *y);
  ask_kernel<<<1, 96>>>(sum, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
