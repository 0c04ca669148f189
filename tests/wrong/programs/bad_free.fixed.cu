// finds: nothing
//
// The pointer is the one that cudaMalloc returned.
#include <cuda_runtime.h>

int main() {
  float* x = nullptr;
  cudaMalloc(&x, 256 * sizeof *x);
  return cudaFree(x) != cudaSuccess;
}
