// finds: error, says is not what cudaMalloc returned, but byte 4 of
//
// The pointer has moved on since cudaMalloc returned it.
#include <cuda_runtime.h>

int main() {
  float* x = nullptr;
  cudaMalloc(&x, 256 * sizeof *x);
  ++x;
  return cudaFree(x) != cudaSuccess;
}
