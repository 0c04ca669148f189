// finds: nothing
//
// It fits.
#include <cuda_runtime.h>

int main() {
  float host[256] = {};
  float* x = nullptr;
  cudaMalloc(&x, sizeof host);
  return cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice) !=
         cudaSuccess;
}
