// finds: race with the host, says the host writes byte 0
//
// The host refills an array that a kernel may still read.
#include <cuda_runtime.h>

constexpr int kN = 1 << 12;

__global__ void double_kernel(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 2 * x[i];  // <- here
}

int main() {
  float *x = nullptr, *y = nullptr;
  cudaMallocHost(&x, kN * sizeof *x);
  cudaMalloc(&y, kN * sizeof *y);
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < kN; ++i) x[i] = static_cast<float>(round);
    double_kernel<<<kN / 256, 256, 0, stream>>>(x, y);
  }
  return cudaStreamSynchronize(stream) != cudaSuccess;
}
