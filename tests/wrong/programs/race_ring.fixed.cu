// finds: nothing
//
// A warp hands numbers to another one in a ring of four in shared memory, and
// waits while four are on the way.
#include <cuda_runtime.h>

__global__ void ring_kernel(float* y, int n) {
  __shared__ float ring[4];
  __shared__ volatile int written, taken;
  if (threadIdx.x == 0) written = taken = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 0; i < n; ++i) {
      while (taken < i - 3) {
      }
      __threadfence_block();
      ring[i % 4] = i;
      __threadfence_block();
      written = i + 1;
    }
  } else if (threadIdx.x == 32) {
    for (int i = 0; i < n; ++i) {
      while (written <= i) {
      }
      __threadfence_block();
      y[i] = ring[i % 4];
      __threadfence_block();
      taken = i + 1;
    }
  }
}

int main() {
  float* y = nullptr;
  cudaMalloc(&y, 32 * sizeof *y);
  ring_kernel<<<1, 64>>>(y, 32);
  return cudaDeviceSynchronize() != cudaSuccess;
}
