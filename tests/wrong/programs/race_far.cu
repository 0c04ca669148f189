// finds: race, says by thread
// Blocks far apart, which the executor runs on different cores at first: each
// adds what the block on the other side of the array may have changed already.
#include <cuda_runtime.h>

__global__ void add_opposite(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += x[n - 1 - i];  // <- here
}

int main() {
  constexpr int kCount = 1 << 17;
  float* x = nullptr;
  cudaMalloc(&x, kCount * sizeof(float));
  cudaMemset(x, 0, kCount * sizeof(float));
  add_opposite<<<kCount / 256, 256>>>(x, kCount);
  cudaDeviceSynchronize();
  cudaFree(x);
}
