// Chapter 11, variant: the block that comes last adds up the blocks' sums.
//
// New:   each block leaves its sum in scratch and counts itself, and the one
//        that makes the count full adds up all sums in an order that is fixed.
// Why:   one launch; and whichever block comes last, the same numbers are added
//        in the same order.
// Price: a fence on each side of the counter, whose answer every block awaits.

#include "chapters/11_sum_warp/block_sum.h"
#include "common/check.h"
#include "common/sum.h"

namespace {

constexpr int kBlock = 1024;
constexpr int kCoarse = 2;  // Packs that a thread loads at once.
constexpr int kTile = kCoarse * kBlock;
constexpr int kMostBlocks = 256;  // The last one has a thread for each.
static_assert(kMostBlocks <= kBlock);

// Whether all other blocks have left their sums. The last one's turn makes the
// counter 0 again, ready for the next call.
__device__ bool comes_last(float sum, float* sums, unsigned* counter) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
    __threadfence();  // Who sees it counted sees its sum.
    last = atomicInc(counter, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();  // What is read from here on was left before.
  }
  __syncthreads();
  return last;
}

__global__ void sum_kernel(const float* __restrict__ x, float* __restrict__ out,
                           Peeled at, int64_t n, float* sums,
                           unsigned* counter) {
  float sum = block_sum<kBlock>(thread_sum<kBlock, kCoarse>(x, at, n));
  if (!comes_last(sum, sums, counter)) return;

  sum = threadIdx.x < gridDim.x ? sums[threadIdx.x] : 0.f;
  sum = block_sum<kBlock>(sum);
  if (threadIdx.x == 0) *out = sum;
}

int64_t tiles_for(int64_t packs) {
  return std::max<int64_t>(1, (packs + kTile - 1) / kTile);
}
// How many depends on the packs alone, so every GPU adds in the same order.
int64_t blocks_for(int64_t packs) {
  return std::min<int64_t>(tiles_for(packs), kMostBlocks);
}

}  // namespace

void sum(const float* x, float* out, int64_t n, float* scratch,
         cudaStream_t stream) {
  const Peeled at = peel(x, n);
  sum_kernel<<<blocks_for(at.packs), kBlock, 0, stream>>>(
      x, out, at, n, scratch + 1, reinterpret_cast<unsigned*>(scratch));
  CUDA_CHECK(cudaGetLastError());
}

int64_t sum_scratch_floats(int64_t n) { return 1 + blocks_for(n / kPack); }

SumPromise sum_promise(int64_t n) {
  const int64_t blocks = blocks_for(n / kPack);
  const int64_t tiles = (tiles_for(n / kPack) + blocks - 1) / blocks;
  return {.depth = thread_depth<kCoarse>(tiles) + 2 * kBlockDepth<kBlock>,
          .same_bits = true,
          .denormals = true};
}
