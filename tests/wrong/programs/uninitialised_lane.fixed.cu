// finds: nothing
//
// A block of 20 threads is summed. What lanes without a thread would hand over
// is left out.
#include <cuda_runtime.h>

__global__ void sum_kernel(const float* x, float* y) {
  float sum = x[threadIdx.x];
  for (int k = 16; k > 0; k /= 2) {
    const float more = __shfl_down_sync(0xfffff, sum, k);
    if (threadIdx.x + k < blockDim.x) sum += more;
  }
  if (threadIdx.x == 0) *y = sum;
}

int main() {
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, 32 * sizeof *x);
  cudaMalloc(&y, sizeof *y);
  cudaMemset(x, 0, 32 * sizeof *x);
  sum_kernel<<<1, 20>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
