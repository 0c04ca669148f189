// Chapter 11: how a block adds up, without a tree in shared memory.
//
// New:   the lanes of a warp pass each other their sums by shuffles.
// Why:   lanes of one warp need neither memory nor a barrier to meet; a barrier
//        remains between the warps and the one that joins them.
// Price: a shuffle is for a whole warp: each lane in its mask has to come.
#pragma once

#include <bit>

#include "common/peel.h"

constexpr int kLanes = 32;

// The sum over a warp's lanes, in each of them.
__device__ inline float warp_sum(float sum) {
  for (int away = kLanes / 2; away > 0; away /= 2) {
    sum += __shfl_xor_sync(~0u, sum, away);
  }
  return sum;
}

// The sum over a block's threads, in each lane of its first warp.
template <int kBlock>
__device__ float block_sum(float sum) {
  constexpr int kWarps = kBlock / kLanes;
  static_assert(kWarps * kLanes == kBlock && kWarps <= kLanes);
  __shared__ float sums[kWarps];
  const int warp = threadIdx.x / kLanes, lane = threadIdx.x % kLanes;

  sum = warp_sum(sum);
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  if (warp > 0) return 0.f;
  return warp_sum(lane < kWarps ? sums[lane] : 0.f);
}

// A thread's packs of a tile: kCoarse of them, kBlock apart.
template <int kBlock, int kCoarse>
struct Part {
  static constexpr int64_t kTile = kBlock * kCoarse;
  Pack pack[kCoarse] = {};

  __device__ Part(const Pack* __restrict__ packs, int64_t i, int64_t count) {
    for (int k = 0; k < kCoarse; ++k, i += kBlock) {
      if (i < count) pack[k] = packs[i];
    }
  }
};

// The sum of a thread's numbers. A block takes every gridDim.x-th tile, and
// loads the next one before it adds up the current one.
template <int kBlock, int kCoarse>
__device__ float thread_sum(const float* __restrict__ x, Peeled at, int64_t n) {
  using Mine = Part<kBlock, kCoarse>;
  const Pack* packs = reinterpret_cast<const Pack*>(x + at.head);
  const int64_t first = blockIdx.x * Mine::kTile + threadIdx.x;

  Pack sums = {};  // Four chains, of which none waits for another.
  Mine next(packs, first, at.packs);
#pragma unroll 1  // Else the number of rounds is computed first.
  for (int64_t i = first; i < at.packs;) {
    const Mine part = next;
    i += gridDim.x * Mine::kTile;
    next = Mine(packs, i, at.packs);
    for (const Pack& one : part.pack) {
      for (int j = 0; j < kPack; ++j) sums.v[j] += one.v[j];
    }
  }
  const float sum = (sums.v[0] + sums.v[1]) + (sums.v[2] + sums.v[3]);
  const int64_t apart = n - at.packs * kPack;  // Numbers in no pack.
  if (first >= apart) return sum;
  return sum + x[first < at.head ? first : first + at.packs * kPack];
}

// The most roundings in each of them.
template <int kCoarse>
constexpr int64_t thread_depth(int64_t tiles) {
  return tiles * kCoarse + 3;
}
template <int kBlock>
constexpr int kBlockDepth = std::bit_width(kBlock - 1u);
