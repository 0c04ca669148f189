// Chapter 07: the same tree, with the working threads side by side.
//
// New:   the stride halves, from half the tile down to one, and the threads at
//        work are always the first `stride`.
// Why:   a warp then works as a whole or not at all, except in the last five
//        steps; and its lanes' numbers lie side by side.
// Price: other pairs are added than before, so the last bits differ. It still
//        overwrites what it sums, in global memory.

#include <algorithm>
#include <bit>

#include "common/check.h"
#include "common/sum.h"

namespace {

constexpr int kBlock = 1024;
constexpr int kTile = 2 * kBlock;  // Floats that a block adds up.
static_assert(std::has_single_bit(unsigned{kBlock}));

__global__ void sum_kernel(float* x, float* sums, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * kTile + threadIdx.x;

  // >>> Your code, at most 5 lines: add up the block's tile in steps, so that
  // its sum ends up in the x[i] of thread 0. In a step, a thread adds to its
  // x[i] the number that lies some distance further on, unless that lies past
  // x[n - 1]. The distance is as many floats as the block has threads in the
  // first step, and halves with each, down to 1. The threads that take part lie
  // side by side and begin with thread 0, and there are as many of them as the
  // distance. No thread begins a step before every thread of the block has
  // ended the one before.
  // <<<
  if (threadIdx.x == 0) sums[blockIdx.x] = i < n ? x[i] : 0.f;
}

// One block at least: an empty sum is written, too.
int64_t blocks_for(int64_t n) {
  return std::max<int64_t>(1, (n + kTile - 1) / kTile);
}

}  // namespace

void sum(const float* x, float* out, int64_t n, float* scratch,
         cudaStream_t stream) {
  const int64_t grid = blocks_for(n);
  float* copy = scratch;
  float* sums = grid == 1 ? out : copy + n;
  CUDA_CHECK(cudaMemcpyAsync(copy, x, n * sizeof(float),
                             cudaMemcpyDeviceToDevice, stream));
  sum_kernel<<<grid, kBlock, 0, stream>>>(copy, sums, n);
  CUDA_CHECK(cudaGetLastError());
  if (grid > 1) sum(sums, out, grid, sums + grid, stream);
}

int64_t sum_scratch_floats(int64_t n) {
  const int64_t grid = blocks_for(n);
  return n + (grid == 1 ? 0 : grid + sum_scratch_floats(grid));
}

// A tree of pairs over n numbers is log2(n) deep, rounded up.
SumPromise sum_promise(int64_t n) {
  int64_t depth = 0;
  while (int64_t{1} << depth < n) ++depth;
  return {.depth = depth, .same_bits = true, .denormals = true};
}
