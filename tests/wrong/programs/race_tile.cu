// finds: race
//
// Tiles of two warps read what their other warp has written.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void swap_kernel(float* y) {
  __shared__ float values[128];
  const auto tile = cg::tiled_partition<64>(cg::this_thread_block());
  const int i = threadIdx.x;
  values[i] = static_cast<float>(i);  // <- other
  const float mine = values[i ^ 32];  // <- here
  tile.sync();
  y[i] = mine;
}

int main() {
  float* y = nullptr;
  cudaMalloc(&y, 128 * sizeof *y);
  swap_kernel<<<1, 128>>>(y);
  return cudaDeviceSynchronize() != cudaSuccess;
}
