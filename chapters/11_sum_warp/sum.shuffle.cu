// Chapter 11, variant: a tree of shuffles below chapter 10's meeting.
//
// New:   the block's tree is one of shuffles; blocks still meet in `*out`.
// Why:   to see what the shuffles gain by themselves.
// Price: two steps of work per call, and bits that differ from run to run.

#include "chapters/11_sum_warp/block_sum.h"
#include "common/check.h"
#include "common/sum.h"

namespace {

constexpr int kBlock = 512;
constexpr int kCoarse = 4;               // Packs that a thread adds up.
constexpr int kTile = kCoarse * kBlock;  // Packs that a block adds up.

__global__ void sum_kernel(const float* __restrict__ x, float* __restrict__ out,
                           Peeled at, int64_t n) {
  const float mine = thread_sum<kBlock, kCoarse, true>(x, at, n);
  const float sum = block_sum<kBlock>(mine);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}

int64_t blocks_for(int64_t packs) {
  return std::max<int64_t>(1, (packs + kTile - 1) / kTile);
}

}  // namespace

void sum(const float* x, float* out, int64_t n, float*, cudaStream_t stream) {
  const Peeled at = peel(x, n);
  CUDA_CHECK(cudaMemsetAsync(out, 0, sizeof(float), stream));
  sum_kernel<<<blocks_for(at.packs), kBlock, 0, stream>>>(x, out, at, n);
  CUDA_CHECK(cudaGetLastError());
}

int64_t sum_scratch_floats(int64_t) { return 0; }

SumPromise sum_promise(int64_t n) {
  const int64_t adding = thread_depth<kCoarse>(1) + kBlockDepth<kBlock>;
  return {.depth = adding + blocks_for(n / kPack) - 1,
          .same_bits = false,
          .denormals = false};
}
