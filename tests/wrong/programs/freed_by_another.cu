// finds: use after free, block (1,0,0), thread (0,0,0), says malloc in a kernel
//
// A block reads an array twice, and another frees it in between.
#include <cuda_runtime.h>

__device__ volatile int* volatile shared_list;
__device__ volatile int stage;

__device__ void wait_for(int reached) {
  while (stage < reached) {
  }
  __threadfence();
}

__device__ void announce(int reached) {
  __threadfence();
  stage = reached;
}

__global__ void read_kernel(int* y) {
  if (blockIdx.x == 0) {
    int* const list = static_cast<int*>(malloc(64 * sizeof(int)));
    for (int i = 0; i < 64; ++i) list[i] = i;
    shared_list = list;
    announce(1);
    wait_for(2);
    free(list);
    announce(3);
    return;
  }
  wait_for(1);
#pragma unroll 1
  for (int round = 0; round < 2; ++round) {
    y[round] = shared_list[7];  // <- here
    if (round == 1) continue;
    announce(2);
    wait_for(3);
  }
}

int main() {
  int* y = nullptr;
  cudaMalloc(&y, 2 * sizeof *y);
  read_kernel<<<2, 1>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
