// finds: race
//
// Cooperative groups copy a row of 40 words for a warp, and nobody waits.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

constexpr int kWords = 40;

__global__ void last_kernel(const int* x, int* last) {
  __shared__ int row[kWords];
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  cg::memcpy_async(warp, row, x, sizeof row);  // <- other
  last[threadIdx.x] = row[kWords - 1];         // <- here
}

int main() {
  int *x = nullptr, *last = nullptr;
  cudaMalloc(&x, kWords * sizeof *x);
  cudaMalloc(&last, 32 * sizeof *last);
  cudaMemset(x, 1, kWords * sizeof *x);
  last_kernel<<<1, 32>>>(x, last);
  return cudaDeviceSynchronize() != cudaSuccess;
}
