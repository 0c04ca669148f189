// Chapter 12: sums whose bits depend on the numbers of a row, and nothing else.
//
// Neighbours are added, then pairs of them, then fours: a tree over the row,
// which zeros fill up to a power of two. Neither the launch nor the address nor
// how many rows there are has a say in it.
#pragma once

#include <algorithm>

#include "common/check.h"
#include "common/pack.h"

namespace tree {

constexpr int kWarps = 8, kLanes = 32;
constexpr int kLoads = 8;  // Packs that a thread has under way.
constexpr int kChunk = kLoads * kLanes * kPack;  // A warp's part of the tree.

constexpr int64_t chunks_of(int64_t n) {
  return std::max<int64_t>(1, (n + kChunk - 1) / kChunk);
}

// The tree over the first `count` numbers from x on, at most kChunk of them.
__device__ inline float chunk_sum(const float* x, int64_t count) {
  const bool in_packs =
      count >= kChunk && reinterpret_cast<uintptr_t>(x) % alignof(Pack) == 0;
  Pack pack[kLoads] = {};
  for (int k = 0; k < kLoads; ++k) {
    const int i = (k * kLanes + threadIdx.x % kLanes) * kPack;
    if (in_packs) pack[k] = *reinterpret_cast<const Pack*>(x + i);
    for (int j = 0; j < kPack && !in_packs; ++j) {
      if (i + j < count) pack[k].v[j] = x[i + j];
    }
  }
  float sum[kLoads];
  for (int k = 0; k < kLoads; ++k) {
    const float* v = pack[k].v;
    sum[k] = (v[0] + v[1]) + (v[2] + v[3]);
    for (int away = 1; away < kLanes; away *= 2) {
      sum[k] += __shfl_xor_sync(~0u, sum[k], away);
    }
  }
  for (int away = 1; away < kLoads; away *= 2) {
    for (int k = 0; k < kLoads; k += 2 * away) sum[k] += sum[k + away];
  }
  return sum[0];
}

// Of each row of n numbers one for each chunk.
static __global__ void tree_kernel(const float* __restrict__ x,
                                   float* __restrict__ out, int64_t rows,
                                   int64_t n, int64_t chunks) {
  const int64_t warp = int64_t{blockIdx.x} * kWarps + threadIdx.x / kLanes;
  if (warp >= rows * chunks) return;
  const int64_t row = warp / chunks, first = warp % chunks * kChunk;
  const float sum = chunk_sum(x + row * n + first, n - first);
  if (threadIdx.x % kLanes == 0) out[warp] = sum;
}

// out[r] is the sum of the r-th row of n floats. `scratch` holds what the rows
// have above each chunk: tree_scratch() floats.
inline void tree_sums(const float* x, float* out, int64_t rows, int64_t n,
                      float* scratch, cudaStream_t stream) {
  for (bool is_last = false; !is_last;) {
    const int64_t chunks = chunks_of(n);
    is_last = chunks == 1;
    float* const to = is_last ? out : scratch;
    const int64_t blocks = (rows * chunks + kWarps - 1) / kWarps;
    if (blocks == 0) return;
    tree_kernel<<<blocks, kWarps * kLanes, 0, stream>>>(x, to, rows, n, chunks);
    CUDA_CHECK(cudaGetLastError());
    x = to;
    n = chunks;
    scratch += rows * chunks;
  }
}

inline int64_t tree_scratch(int64_t rows, int64_t n) {
  const int64_t chunks = chunks_of(n);
  return chunks == 1 ? 0 : rows * chunks + tree_scratch(rows, chunks);
}

}  // namespace tree
