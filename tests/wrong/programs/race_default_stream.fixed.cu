// finds: nothing
//
// A stream made with cudaStreamCreate waits for the default one.
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
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  cudaMemset(x, 0, kN * sizeof *x);
  double_kernel<<<kN / 256, 256, 0, stream>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
