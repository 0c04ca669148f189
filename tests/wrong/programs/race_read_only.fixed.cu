// finds: nothing
//
// What a kernel writes itself it reads plainly; what an earlier kernel has
// written, the read-only cache may bring, also if it is written later on.
#include <cuda_runtime.h>

__global__ void reverse_kernel(float* x, float* y, float* z) {
  const int i = threadIdx.x;
  const float before = __ldg(&x[i]);
  x[i] = i;
  __syncthreads();
  y[i] = x[blockDim.x - 1 - i] + before + __ldg(&z[i]);
}

int main() {
  float *x = nullptr, *y = nullptr, *z = nullptr;
  cudaMalloc(&x, 256 * sizeof *x);
  cudaMalloc(&y, 256 * sizeof *y);
  cudaMalloc(&z, 256 * sizeof *z);
  cudaMemset(x, 0, 256 * sizeof *x);
  cudaMemset(z, 0, 256 * sizeof *z);
  for (int k = 0; k < 2; ++k) {
    reverse_kernel<<<1, 256>>>(x, y, z);
    reverse_kernel<<<1, 256>>>(z, y, x);
  }
  return cudaDeviceSynchronize() != cudaSuccess;
}
