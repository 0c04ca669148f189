// The same launch, once for each letter of its argument.
#include <cuda_runtime.h>
__global__ void copy(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i];
}
int main(int, char** words) {
  float *x, *y;
  cudaMalloc(&x, 1 << 22);
  cudaMalloc(&y, 1 << 22);
  cudaMemset(x, 0, 1 << 22);
  for (const char* c = words[1]; *c; ++c) copy<<<1 << 12, 256>>>(x, y);
  return cudaDeviceSynchronize();
}
