// finds: nothing
//
// Every so many steps something is noted; 0 says: never.
#include <cuda_runtime.h>

__global__ void note_kernel(long long steps, long long every, int* notes) {
  for (long long k = 0; k < steps; ++k)
    if (every && k % every == 0) atomicAdd(notes, 1);
}

int main() {
  int* notes = nullptr;
  cudaMalloc(&notes, sizeof *notes);
  cudaMemset(notes, 0, sizeof *notes);
  note_kernel<<<1, 1>>>(8, 0, notes);
  return cudaDeviceSynchronize() != cudaSuccess;
}
