// finds: nothing
//
// The second stream waits for an event of the first one.
#include <cuda_runtime.h>

constexpr int kN = 1 << 12;

__global__ void fill_kernel(float* x, float value) {
  x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
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
  cudaEvent_t filled = nullptr;
  cudaEventCreate(&filled);
  fill_kernel<<<kN / 256, 256, 0, first>>>(x, 1);
  cudaEventRecord(filled, first);
  cudaStreamWaitEvent(second, filled, 0);
  double_kernel<<<kN / 256, 256, 0, second>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
