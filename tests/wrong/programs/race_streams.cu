// finds: race between streams, says cudaStreamWaitEvent
//
// Two streams, and nothing says that the first kernel comes first.
#include <cuda_runtime.h>

constexpr int kN = 1 << 12;

__global__ void fill_kernel(float* x, float value) {
  x[blockIdx.x * blockDim.x + threadIdx.x] = value;  // <- other
}
__global__ void double_kernel(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 2 * x[i];  // <- here
}

int main() {
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, kN * sizeof *x);
  cudaMalloc(&y, kN * sizeof *y);
  cudaStream_t first = nullptr, second = nullptr;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  fill_kernel<<<kN / 256, 256, 0, first>>>(x, 1);
  double_kernel<<<kN / 256, 256, 0, second>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
