// finds: nothing
//
// A kernel asks for 16 MiB, and its heap is large enough.
#include <cuda_runtime.h>

__global__ void fill_kernel(int n) {
  int* const list = static_cast<int*>(malloc(n * sizeof(int)));
  list[0] = n;
  free(list);
}

int main() {
  cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20);
  fill_kernel<<<1, 1>>>(4 << 20);
  return cudaDeviceSynchronize() != cudaSuccess;
}
