// finds: error, says which was freed
//
// An array is freed twice.
#include <cuda_runtime.h>

int main() {
  float* x = nullptr;
  cudaMalloc(&x, 256 * sizeof *x);
  cudaFree(x);
  return cudaFree(x) != cudaSuccess;
}
