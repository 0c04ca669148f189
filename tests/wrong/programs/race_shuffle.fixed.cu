// finds: nothing
//
// __syncwarp() orders the memory of the lanes that it names.
#include <cuda_runtime.h>

__global__ void reverse_kernel(float* y) {
  __shared__ float tile[32];
  const int lane = threadIdx.x;
  tile[lane] = lane;
  const float first = __shfl_sync(~0u, lane + 1.f, 0);
  __syncwarp();
  y[lane] = first + tile[31 - lane];
}

int main() {
  float* y = nullptr;
  cudaMalloc(&y, 32 * sizeof *y);
  reverse_kernel<<<1, 32>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
