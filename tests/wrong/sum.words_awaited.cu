// Odd, but right: every block but the last leaves its sum in a word of its own,
// with a mark that it is there, and the last block awaits them all.

#include <cuda/atomic>

#include "chapters/11_sum_warp/block_sum.h"
#include "common/check.h"
#include "common/sum.h"

namespace {

constexpr int kBlock = 1024;
constexpr int kCoarse = 2;  // Packs that a thread loads at once.
constexpr int kTile = kCoarse * kBlock;
constexpr int kMostBlocks = 256;

struct alignas(8) Word {
  float sum;
  unsigned is_there;
};
using Shared = cuda::atomic_ref<Word, cuda::thread_scope_device>;
constexpr auto kRelaxed = cuda::memory_order_relaxed;

__device__ float take(Word& left) {
  Word word;
  do word = Shared(left).load(kRelaxed);
  while (!word.is_there);
  Shared(left).store({}, kRelaxed);
  return word.sum;
}

__global__ void sum_kernel(const float* __restrict__ x, float* __restrict__ out,
                           Peeled at, int64_t n, Word* words) {
  const unsigned last = gridDim.x - 1;

  float sum = thread_sum<kBlock, kCoarse>(x, at, n);
  if (blockIdx.x == last && threadIdx.x < last) sum += take(words[threadIdx.x]);
  sum = block_sum<kBlock>(sum);
  if (threadIdx.x > 0) return;
  if (blockIdx.x == last) *out = sum;
  if (blockIdx.x < last) Shared(words[blockIdx.x]).store({sum, 1}, kRelaxed);
}

int64_t tiles_for(int64_t packs) { return (packs + kTile - 1) / kTile; }
int64_t blocks_for(int64_t packs) {
  return std::clamp<int64_t>(tiles_for(packs), 1, kMostBlocks);
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

int64_t sum_scratch_floats(int64_t n) { return 2 * blocks_for(n / kPack) - 1; }

SumPromise sum_promise(int64_t n) {
  const int64_t blocks = blocks_for(n / kPack);
  const int64_t tiles = (tiles_for(n / kPack) + blocks - 1) / blocks;
  return {.depth = thread_depth<kCoarse>(tiles) + 1 + 2 * kBlockDepth<kBlock>,
          .same_bits = true,
          .denormals = true};
}
