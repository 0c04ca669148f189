// finds: nothing
//
// The host waits first.
#include <cuda_runtime.h>

__global__ void count_kernel(int* count) { atomicAdd(count, 1); }

int main() {
  int* count = nullptr;
  cudaMallocManaged(&count, sizeof *count);
  count_kernel<<<2, 64>>>(count);
  cudaDeviceSynchronize();
  const bool all = *count == 128;
  return !all;
}
