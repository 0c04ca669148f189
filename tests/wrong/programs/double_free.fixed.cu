// finds: nothing
//
// Once it is freed, the pointer is null, and to free that does nothing.
#include <cuda_runtime.h>

int main() {
  float* x = nullptr;
  cudaMalloc(&x, 256 * sizeof *x);
  cudaFree(x);
  x = nullptr;
  return cudaFree(x) != cudaSuccess;
}
