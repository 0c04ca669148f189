// finds: race with the host, says updates it
//
// The host reads a count that a kernel may not have done yet. atomicAdd is
// atomic for the device alone.
#include <cuda_runtime.h>

__global__ void count_kernel(int* count) { atomicAdd(count, 1); }  // <- here

int main() {
  int* count = nullptr;
  cudaMallocManaged(&count, sizeof *count);
  count_kernel<<<2, 64>>>(count);
  const bool all = *count == 128;
  return cudaDeviceSynchronize() != cudaSuccess || !all;
}
