// finds: nothing
//
// It waits before it loads.
#include <cuda_runtime.h>

constexpr int kN = 1 << 12;

__global__ void fill_kernel(float* x, float value) {
  cudaTriggerProgrammaticLaunchCompletion();
  x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
__global__ void double_kernel(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  cudaGridDependencySynchronize();
  y[i] = 2 * x[i];
}

int main() {
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, kN * sizeof *x);
  cudaMalloc(&y, kN * sizeof *y);
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = kN / 256;
  config.blockDim = 256;
  config.attrs = &early;
  config.numAttrs = 1;
  fill_kernel<<<kN / 256, 256>>>(x, 1);
  cudaLaunchKernelEx(&config, double_kernel, static_cast<const float*>(x), y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
