// finds: nothing
//
// A kernel frees what it has allocated itself.
#include <cuda_runtime.h>

__global__ void drop_kernel(float* y) {
  if (threadIdx.x != 0) return;
  float* x = static_cast<float*>(malloc(256 * sizeof *x));
  x[threadIdx.x] = 1.f;
  *y = x[threadIdx.x];
  free(x);
}

int main() {
  float* y = nullptr;
  cudaMalloc(&y, sizeof *y);
  drop_kernel<<<1, 32>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
