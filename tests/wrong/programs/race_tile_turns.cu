// finds: race, block (0,0,0)
//
// Tiles take turns, and whose turn it is sleeps for a while: others look at the
// flag meanwhile. Nothing orders the sum and the flag.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void turns_kernel(int* y) {
  __shared__ volatile int turn;
  __shared__ int sum;
  if (threadIdx.x == 0) {
    turn = 0;
    sum = 1;
  }
  __syncthreads();
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int mine = tile.meta_group_rank();
  if (tile.thread_rank() == 0) {
    while (turn != mine) {
    }
    __threadfence_block();
    __nanosleep(20);
    sum = sum * 3 % 1000 + mine;  // <- here
    turn = mine + 1;
  }
  __syncthreads();
  if (threadIdx.x == 0) *y = sum;
}

int main() {
  int* y = nullptr;
  cudaMalloc(&y, sizeof *y);
  turns_kernel<<<1, 64>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
