// finds: division by zero, block (0,0,0), thread (0,0,0), says It decides
//
// Every so many steps something is noted; 0 was to say: never.
#include <cuda_runtime.h>

__global__ void note_kernel(long long steps, long long every, int* notes) {
  for (long long k = 0; k < steps; ++k)
    if (k % every == 0) atomicAdd(notes, 1);  // <- here
}

int main() {
  int* notes = nullptr;
  cudaMalloc(&notes, sizeof *notes);
  cudaMemset(notes, 0, sizeof *notes);
  note_kernel<<<1, 1>>>(8, 0, notes);
  return cudaDeviceSynchronize() != cudaSuccess;
}
