// finds: error, says cudaMemcpy: dst
//
// A copy that does not fit its target.
#include <cuda_runtime.h>

int main() {
  float host[256] = {};
  float* x = nullptr;
  cudaMalloc(&x, 100 * sizeof *x);
  return cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice) !=
         cudaSuccess;
}
