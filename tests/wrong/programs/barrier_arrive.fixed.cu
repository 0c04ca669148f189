// finds: nothing
//
// As barrier_arrive.cu, with an instruction that counts threads.
#include <cuda_runtime.h>

__global__ void arrive_kernel(float* y) {
  __shared__ float box[8];
  const int i = threadIdx.x;
  if (i >= 32) {
    box[i - 32] = i;
    if (i % 2 == 0)
      asm volatile("barrier.arrive 1, 64;" ::: "memory");
    else
      asm volatile("barrier.arrive 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    y[i] = box[i % 8];
  }
}

int main() {
  float* y = nullptr;
  cudaMalloc(&y, 32 * sizeof *y);
  arrive_kernel<<<1, 40>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
