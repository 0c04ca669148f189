// finds: race, says a texture
//
// A kernel fetches by a texture what it has written itself: the texture's cache
// may hold what was there before, whatever barrier lies between the two.
#include <cuda_runtime.h>

__global__ void reverse_kernel(float* x, cudaTextureObject_t texture,
                               float* y) {
  const int i = threadIdx.x;
  x[i] = i;  // <- other
  __syncthreads();
  y[i] = tex1Dfetch<float>(texture, blockDim.x - 1 - i);  // <- here
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
  reverse_kernel<<<1, 256>>>(x, texture, y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
