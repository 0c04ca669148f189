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

// Pair by pair, so that additions that do not need each other can overlap.
template <int kCount>
__device__ float pair_sum(const float* v) {
  if constexpr (kCount > 1) {
    return pair_sum<kCount / 2>(v) + pair_sum<kCount / 2>(v + kCount / 2);
  }
  return *v;
}

// The sum over a block's threads, in each lane of its first warp.
template <int kBlock>
__device__ float block_sum(float sum) {
  constexpr int kWarps = kBlock / kLanes;
  static_assert(kWarps * kLanes == kBlock && (kWarps & (kWarps - 1)) == 0);
  alignas(16) __shared__ float sums[kWarps];

  sum = warp_sum(sum);
  if (threadIdx.x % kLanes == 0) sums[threadIdx.x / kLanes] = sum;
  __syncthreads();
  return threadIdx.x < kLanes ? pair_sum<kWarps>(sums) : 0.f;
}

// Four sums, of which none waits for another.
__device__ inline Pack& operator+=(Pack& sums, const Pack& one) {
  for (int j = 0; j < kPack; ++j) sums.v[j] += one.v[j];
  return sums;
}

// A thread's packs of a tile: kCoarse of them, kBlock apart.
template <int kBlock, int kCoarse>
struct Part {
  static constexpr int kTile = kBlock * kCoarse;
  Pack pack[kCoarse] = {};

  __device__ Part(const Pack* __restrict__ packs, int64_t i, int64_t count) {
    const int left = min(count - i, int64_t{kTile});
    for (int k = 0; k < kCoarse; ++k) {
      if (k * kBlock < left) pack[k] = packs[i + k * kBlock];
    }
  }
  __device__ Pack sum() const {
    Pack sum = pack[0];
    for (int k = 1; k < kCoarse; ++k) sum += pack[k];
    return sum;
  }
};

// The sum of a thread's numbers. A block takes every gridDim.x-th tile, and
// loads the next one before it adds up the current one. Where no block has
// more than one tile, it does without the loop.
template <int kBlock, int kCoarse, bool kOneTile = false>
__device__ float thread_sum(const float* __restrict__ x, Peeled at, int64_t n) {
  using Mine = Part<kBlock, kCoarse>;
  const Pack* packs = reinterpret_cast<const Pack*>(x + at.head);
  const int64_t first = int64_t{blockIdx.x} * Mine::kTile + threadIdx.x;
  const int64_t apart = n - at.packs * kPack;  // Numbers in no pack.

  Mine part(packs, first, at.packs);
  float alone = 0.f;
  if (first < apart) alone = x[first < at.head ? first : first + n - apart];

  Pack sums = {};
#pragma unroll 1  // Else the number of rounds is computed first.
  for (int64_t i = first; !kOneTile && i < at.packs;) {
    i += gridDim.x * Mine::kTile;
    const Mine next(packs, i, at.packs);
    sums += part.sum();
    part = next;
  }
  if (kOneTile) sums = part.sum();
  return (sums.v[0] + sums.v[1]) + (sums.v[2] + sums.v[3]) + alone;
}

// The most roundings in each of them.
template <int kCoarse>
constexpr int64_t thread_depth(int64_t tiles) {
  return kCoarse - 1 + tiles + 3;
}
template <int kBlock>
constexpr int kBlockDepth = std::bit_width(kBlock - 1u);
