// Chapter 17: the sum of one device's own numbers, as chapter 11 found it.
#pragma once

#include <cuda_runtime_api.h>

#include <cuda/atomic>

#include "common/peel.h"

namespace own {

constexpr int kLanes = 32;
constexpr int kBlock = 1024;
constexpr int kCoarse = 2;  // Packs that a thread loads at once.
constexpr int kTile = kCoarse * kBlock;
constexpr int kFewTiles = 2;      // One block adds them up sooner than two.
constexpr int kMostBlocks = 256;  // The last has a thread for each other one.

// The sum over a warp's lanes, in each of them.
__device__ inline float warp_sum(float sum) {
  for (int away = kLanes / 2; away > 0; away /= 2)
    sum += __shfl_xor_sync(~0u, sum, away);
  return sum;
}

// The sum over a block's threads, in each lane of its first warp.
__device__ inline float block_sum(float sum) {
  __shared__ float sums[kBlock / kLanes];
  const int warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;
  sum = warp_sum(sum);
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  return warp == 0 ? warp_sum(sums[lane]) : 0.f;
}

// A thread's packs of a tile, kBlock apart.
struct Load {
  Pack pack[kCoarse] = {};

  __device__ Load(const Pack* __restrict__ packs, int64_t i, int64_t count) {
    for (int k = 0; k < kCoarse; ++k, i += kBlock)
      if (i < count) pack[k] = packs[i];
  }
};

// The sum of a thread's numbers. A block takes every gridDim.x-th tile, and
// loads the next one before it adds up the current one.
__device__ inline float thread_sum(const float* __restrict__ x, Peeled at,
                                   int64_t n) {
  const Pack* packs = reinterpret_cast<const Pack*>(x + at.head);
  const int64_t first = int64_t{blockIdx.x} * kTile + threadIdx.x;
  Pack sums = {};  // Four chains, of which none waits for another.
  Load next(packs, first, at.packs);
#pragma unroll 1
  for (int64_t i = first; i < at.packs;) {
    const Load now = next;
    i += int64_t{gridDim.x} * kTile;
    next = Load(packs, i, at.packs);
    for (const Pack& one : now.pack)
      for (int j = 0; j < kPack; ++j) sums.v[j] += one.v[j];
  }
  const float sum = (sums.v[0] + sums.v[1]) + (sums.v[2] + sums.v[3]);
  const int64_t lonely = n - at.packs * kPack;  // Numbers in no pack.
  if (first >= lonely) return sum;
  return sum + x[first < at.head ? first : first + at.packs * kPack];
}

// Where a block leaves its sum. Both halves are there at once or not at all.
struct alignas(8) Word {
  float sum;
  unsigned is_there;
};
using Shared = cuda::atomic_ref<Word, cuda::thread_scope_device>;
constexpr auto kRelaxed = cuda::memory_order_relaxed;

// Waits for a block's sum, and clears its word for the next call.
__device__ inline float take(Word& left) {
  Word word;
  do word = Shared(left).load(kRelaxed);
  while (!word.is_there);
  Shared(left).store({}, kRelaxed);
  return word.sum;
}

// A block that is not the last leaves its sum in a word; the last adds them up.
static __global__ void sum_kernel(const float* __restrict__ x,
                                  float* __restrict__ out, Peeled at, int64_t n,
                                  Word* words) {
  const unsigned last = gridDim.x - 1;
  float sum = thread_sum(x, at, n);
  if (blockIdx.x == last && threadIdx.x < last) sum += take(words[threadIdx.x]);
  sum = block_sum(sum);
  if (threadIdx.x > 0) return;
  if (blockIdx.x == last) *out = sum;
  if (blockIdx.x < last) Shared(words[blockIdx.x]).store({sum, 1}, kRelaxed);
}

// How many depends on the packs alone, so every GPU adds in the same order.
inline int64_t blocks_for(int64_t packs) {
  const int64_t tiles = (packs + kTile - 1) / kTile;
  return tiles <= kFewTiles ? 1 : std::min<int64_t>(tiles, kMostBlocks);
}

// Queues *out = the sum of n floats at x, on the current device. `words` are
// kMostBlocks words that are 0 at first.
inline cudaError_t sum(const float* x, int64_t n, float* out, Word* words,
                       cudaStream_t stream) {
  const Peeled at = peel(x, n);
  sum_kernel<<<blocks_for(at.packs), kBlock, 0, stream>>>(x, out, at, n, words);
  return cudaGetLastError();
}

}  // namespace own
