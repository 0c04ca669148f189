// finds: note error, says fails with cudaErrorNotReady while
//
// Nothing has waited for the second event: the kernel may still run.
#include <cuda_runtime.h>

__global__ void busy(float* x) {
  for (int i = 0; i < 1000; ++i) x[threadIdx.x] = i;
}

int main() {
  float* x = nullptr;
  cudaMalloc(&x, 32 * sizeof *x);
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaEventRecord(start);
  busy<<<1, 32>>>(x);
  cudaEventRecord(stop);
  float milliseconds = 0;
  cudaEventElapsedTime(&milliseconds, start, stop);
  return cudaFree(x);
}
