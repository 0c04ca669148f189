// Chapter 11: one launch, and the same bits in every run.
//
// New:   each block leaves its sum in a word with a mark, and the last block
//        waits for these words and adds them up in an order that is fixed.
// Why:   a word is there whole or not at all, so it needs no counter and no
//        fence; whoever takes it clears it, ready for the next call.
// Price: scratch that is 0 at first, and a block that waits: the others must
//        have begun, or find a free place.

#include <cuda/atomic>

#include "chapters/11_sum_warp/block_sum.h"
#include "common/check.h"
#include "common/sum.h"

namespace {

constexpr int kBlock = 1024;
constexpr int kCoarse = 2;  // Packs that a thread loads at once.
constexpr int kTile = kCoarse * kBlock;
constexpr int kFewTiles = 2;      // One block adds them up sooner than two.
constexpr int kMostBlocks = 256;  // The last has a thread for each other one.

struct alignas(8) Word {
  float sum;
  unsigned is_there;
};
// Both halves travel together, and nothing else is ordered by them.
using Shared = cuda::atomic_ref<Word, cuda::thread_scope_device>;
constexpr auto kRelaxed = cuda::memory_order_relaxed;

__device__ float take(Word& left) {
  // >>> Your code, at most 5 lines: load the word through Shared(left) until
  // its sum is there; store an empty one, for the next call; return the sum.
  return 0.f;  // Remove this line.
  // <<<
}

__global__ void sum_kernel(const float* __restrict__ x, float* __restrict__ out,
                           Peeled at, int64_t n, Word* words) {
  const unsigned last = gridDim.x - 1;

  float sum = thread_sum<kBlock, kCoarse>(x, at, n);
  // >>> Your code, at most 5 lines: thread i of block `last` takes words[i] if
  // i < last, and adds it to `sum`. Every thread comes to block_sum<kBlock>(),
  // which adds up the block's sums. Thread 0 then writes what it returns: of
  // block `last` to *out, of any other to the block's word, with a mark of 1.
  (void)last, (void)sum, (void)take, (void)kRelaxed;  // Remove this line.
  // <<<
}

int64_t tiles_for(int64_t packs) { return (packs + kTile - 1) / kTile; }

// How many depends on the packs alone, so every GPU adds in the same order.
int64_t blocks_for(int64_t packs) {
  const int64_t tiles = tiles_for(packs);
  return tiles <= kFewTiles ? 1 : std::min<int64_t>(tiles, kMostBlocks);
}

}  // namespace

void sum(const float* x, float* out, int64_t n, float* scratch,
         cudaStream_t stream) {
  const Peeled at = peel(x, n);
  const auto lent = reinterpret_cast<uintptr_t>(scratch);
  auto* words = reinterpret_cast<Word*>(lent + lent % sizeof(Word));
  sum_kernel<<<blocks_for(at.packs), kBlock, 0, stream>>>(x, out, at, n, words);
  CUDA_CHECK(cudaGetLastError());
}

// One more than the words fill: scratch may begin half a word too late.
int64_t sum_scratch_floats(int64_t n) { return 2 * blocks_for(n / kPack) - 1; }

SumPromise sum_promise(int64_t n) {
  const int64_t blocks = blocks_for(n / kPack);
  const int64_t tiles = (tiles_for(n / kPack) + blocks - 1) / blocks;
  return {.depth = thread_depth<kCoarse>(tiles) + 1 + 2 * kBlockDepth<kBlock>,
          .same_bits = true,
          .denormals = true};
}
