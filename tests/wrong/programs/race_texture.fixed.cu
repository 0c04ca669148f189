// finds: nothing
//
// One kernel writes, and the next fetches it by a texture.
#include <cuda_runtime.h>

__global__ void fill_kernel(float* x) { x[threadIdx.x] = threadIdx.x; }

__global__ void reverse_kernel(cudaTextureObject_t texture, float* y) {
  const int i = threadIdx.x;
  y[i] = tex1Dfetch<float>(texture, blockDim.x - 1 - i);
}

int main() {
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, 256 * sizeof *x);
  cudaMalloc(&y, 256 * sizeof *y);
  cudaResourceDesc memory{};
  memory.resType = cudaResourceTypeLinear;
  memory.res.linear.devPtr = x;
  memory.res.linear.desc = cudaCreateChannelDesc<float>();
  memory.res.linear.sizeInBytes = 256 * sizeof *x;
  const cudaTextureDesc plain{};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &memory, &plain, nullptr);
  fill_kernel<<<1, 256>>>(x);
  reverse_kernel<<<1, 256>>>(texture, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
