// finds: out of bounds, block (0,0,0), thread (0,0,0), says a null pointer
//
// A kernel asks for more than the 8 MiB of its heap, and does not look at what
// it gets.
#include <cuda_runtime.h>

__global__ void fill_kernel(int n) {
  int* const list = static_cast<int*>(malloc(n * sizeof(int)));
  list[0] = n;  // <- here
  free(list);
}

int main() {
  fill_kernel<<<1, 1>>>(4 << 20);
  return cudaDeviceSynchronize() != cudaSuccess;
}
