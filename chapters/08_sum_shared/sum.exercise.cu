// Chapter 08: the tree in shared memory.
//
// New:   an array in shared memory, which lies in the SM itself and belongs to
//        the block.
// Why:   the tree's steps read and write there what they had in global memory,
//        which is far away and now only read, each number once.
// Price: shared memory, of which an SM has little. Half of the threads have
//        nothing to do after their first addition.

#include <algorithm>
#include <bit>

#include "common/check.h"
#include "common/sum.h"

namespace {

constexpr int kBlock = 1024;
constexpr int kTile = 2 * kBlock;  // Floats that a block adds up.
static_assert(std::has_single_bit(unsigned{kBlock}));

__global__ void sum_kernel(const float* __restrict__ x,
                           float* __restrict__ sums, int64_t n) {
  __shared__ float tile[kBlock];
  const int64_t i = int64_t{blockIdx.x} * kTile + threadIdx.x;

  // >>> Your code, at most 9 lines: each thread adds its two numbers of x, x[i]
  // and the one kBlock floats further on, and writes the sum to its place in
  // the shared array `tile`; a number past x[n - 1] counts as 0. Then the
  // block adds up `tile` in steps, as chapter 07 did x, so that its sum ends up
  // in tile[0]. Every thread has to come to every barrier. Thread 0 may read
  // tile[0] right after these lines, if it was also the last to write there.
  (void)i;  // Remove this line.
  // <<<
  if (threadIdx.x == 0) sums[blockIdx.x] = tile[0];
}

// One block at least: an empty sum is written, too.
int64_t blocks_for(int64_t n) {
  return std::max<int64_t>(1, (n + kTile - 1) / kTile);
}

}  // namespace

void sum(const float* x, float* out, int64_t n, float* scratch,
         cudaStream_t stream) {
  const int64_t grid = blocks_for(n);
  float* sums = grid == 1 ? out : scratch;
  sum_kernel<<<grid, kBlock, 0, stream>>>(x, sums, n);
  CUDA_CHECK(cudaGetLastError());
  if (grid > 1) sum(sums, out, grid, sums + grid, stream);
}

int64_t sum_scratch_floats(int64_t n) {
  const int64_t grid = blocks_for(n);
  return grid == 1 ? 0 : grid + sum_scratch_floats(grid);
}

// A tree of pairs over n numbers is log2(n) deep, rounded up.
SumPromise sum_promise(int64_t n) {
  int64_t depth = 0;
  while (int64_t{1} << depth < n) ++depth;
  return {.depth = depth, .same_bits = true, .denormals = true};
}
