// Asks how long a kernel took: too early, or, with an argument, in time.
#include <cuda_runtime.h>

__global__ void busy(float* x) {
  for (int i = 0; i < 1000; ++i) x[threadIdx.x] = i;
}

int main(int argc, char**) {
  float* x = nullptr;
  cudaMalloc(&x, 32 * sizeof *x);
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaEventRecord(start);
  busy<<<1, 32>>>(x);
  cudaEventRecord(stop);
  if (argc > 1) cudaEventSynchronize(stop);
  float milliseconds = 0;
  return cudaEventElapsedTime(&milliseconds, start, stop);
}
