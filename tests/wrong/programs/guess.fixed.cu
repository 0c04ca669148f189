// finds: nothing
//
// A volatile read may meet atomics.
#include <cuda_runtime.h>

__global__ void max_kernel(const float* x, float* y) {
  const float value = x[blockIdx.x * blockDim.x + threadIdx.x];
  int* const bits = reinterpret_cast<int*>(y);
  int old = *static_cast<volatile int*>(bits);
  while (__int_as_float(old) < value) {
    const int assumed = old;
    old = atomicCAS(bits, assumed, __float_as_int(value));
    if (old == assumed) break;
  }
}

int main() {
  const int n = 256;
  float host[n], *x = nullptr, *y = nullptr;
  for (int i = 0; i < n; ++i) host[i] = i % 100;
  cudaMalloc(&x, n * sizeof *x);
  cudaMalloc(&y, sizeof *y);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(y, 0, sizeof *y);
  max_kernel<<<n / 64, 64>>>(x, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
