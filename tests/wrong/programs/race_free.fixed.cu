// finds: nothing
//
// It waits for that.
#include <cuda_runtime.h>

constexpr int kN = 1 << 12;

__global__ void double_kernel(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 2 * x[i];
}

int main() {
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, kN * sizeof *x);
  cudaMalloc(&y, kN * sizeof *y);
  cudaStream_t first = nullptr, second = nullptr;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  cudaMemset(x, 0, kN * sizeof *x);
  float* scratch = nullptr;
  cudaMallocAsync(&scratch, kN * sizeof *x, first);
  cudaStreamSynchronize(first);
  double_kernel<<<kN / 256, 256, 0, second>>>(x, scratch);
  cudaStreamSynchronize(second);
  cudaFreeAsync(scratch, first);
  return cudaDeviceSynchronize() != cudaSuccess;
}
