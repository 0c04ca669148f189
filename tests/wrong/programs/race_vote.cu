// finds: race, block (0,0,0)
//
// Neither a vote nor a match nor a reduction of the warp is a barrier for its
// memory.
#include <cuda_runtime.h>

__global__ void count_kernel(int* y) {
  __shared__ int tile[32];
  const int lane = threadIdx.x;
  tile[lane] = lane % 3;  // <- other
  const unsigned odd = __ballot_sync(~0u, lane & 1);
  const unsigned alike = __match_any_sync(~0u, lane / 2);
  int sum = __popc(odd & alike);
  if (__any_sync(~0u, sum > 1)) sum = 0;
  y[lane] = sum + tile[lane ^ 1];  // <- here
}

int main() {
  int* y = nullptr;
  cudaMalloc(&y, 32 * sizeof *y);
  count_kernel<<<1, 32>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
