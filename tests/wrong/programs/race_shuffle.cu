// finds: race, block (0,0,0)
//
// A shuffle hands over a register and waits for the lanes, but it orders no
// memory: a lane may read before another one's write is there.
#include <cuda_runtime.h>

__global__ void reverse_kernel(float* y) {
  __shared__ float tile[32];
  const int lane = threadIdx.x;
  tile[lane] = lane;  // <- other
  const float first = __shfl_sync(~0u, lane + 1.f, 0);
  y[lane] = first + tile[31 - lane];  // <- here
}

int main() {
  float* y = nullptr;
  cudaMalloc(&y, 32 * sizeof *y);
  reverse_kernel<<<1, 32>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
