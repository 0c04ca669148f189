// Chapter 11: the words in which blocks leave their sums, and how many blocks
// there are.
#pragma once

#include <cuda/atomic>

#include "chapters/11_sum_warp/block_sum.h"

constexpr int kBlock = 256;       // Of a short array: a tile for each.
constexpr int kLongBlock = 512;   // Of a long one.
constexpr int kCoarse = 8;        // Packs that a thread loads at once.
constexpr int kMostBlocks = 256;  // More words would take longer to collect.
constexpr int kWords = kMostBlocks / kLanes;  // For each lane that does so.
constexpr int kPerSm = 2;  // Leaves a thread registers for all its loads.

inline int block_for(int64_t packs) {
  return packs <= kMostBlocks * kCoarse * kBlock ? kBlock : kLongBlock;
}
inline int64_t tiles_for(int64_t packs) {
  const int tile = kCoarse * block_for(packs);
  return std::max<int64_t>(1, (packs + tile - 1) / tile);
}
// How many depends on n alone, so every GPU adds in the same order.
inline int64_t blocks_for(int64_t packs) {
  return std::min<int64_t>(tiles_for(packs), kMostBlocks);
}

struct alignas(8) Word {
  float part;
  unsigned is_there;
};
// Both halves travel together, and nothing else is ordered by them.
using Shared = cuda::atomic_ref<Word, cuda::thread_scope_device>;
constexpr auto kRelaxed = cuda::memory_order_relaxed;

// Makes them ready for the next call: a lane clears every 32nd.
__device__ inline void clear(Word* words, int count) {
  for (int k = 0, i = threadIdx.x; k < kWords; ++k, i += kLanes) {
    if (i < count) Shared(words[i]).store({}, kRelaxed);
  }
}
