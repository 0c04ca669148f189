// Wrong on purpose: who sees a block counted need not see its sum.

#include "chapters/11_sum_warp/block_sum.h"
#include "common/check.h"
#include "common/sum.h"

namespace {

constexpr int kBlock = 1024;
constexpr int kCoarse = 2;  // Packs that a thread loads at once.
constexpr int kTile = kCoarse * kBlock;
constexpr int kMostBlocks = 256;

// Whether all other blocks have left their sums.
__device__ bool comes_last(float sum, float* sums, unsigned* counter) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
    last = atomicInc(counter, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  return last;
}

__global__ void sum_kernel(const float* __restrict__ x, float* __restrict__ out,
                           Peeled at, int64_t n, float* sums,
                           unsigned* counter) {
  const float mine = block_sum<kBlock>(thread_sum<kBlock, kCoarse>(x, at, n));
  if (!comes_last(mine, sums, counter)) return;

  const float left = threadIdx.x < gridDim.x ? sums[threadIdx.x] : 0.f;
  const float all = block_sum<kBlock>(left);
  if (threadIdx.x == 0) *out = all;
}

int64_t tiles_for(int64_t packs) { return (packs + kTile - 1) / kTile; }
int64_t blocks_for(int64_t packs) {
  return std::clamp<int64_t>(tiles_for(packs), 1, kMostBlocks);
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
