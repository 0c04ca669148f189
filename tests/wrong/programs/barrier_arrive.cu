// finds: bad barrier, block (0,0,0), thread (33,0,0)
//
// The second warp's 8 threads arrive in two halves, by an instruction that
// counts a whole warp each time: the consumers go on too soon, or wait for
// ever.
#include <cuda_runtime.h>

__global__ void arrive_kernel(float* y) {
  __shared__ float box[8];
  const int i = threadIdx.x;
  if (i >= 32) {
    box[i - 32] = i;
    if (i % 2 == 0)
      asm volatile("bar.arrive 1, 64;" ::: "memory");
    else
      asm volatile("bar.arrive 1, 64;" ::: "memory");  // <- here
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
