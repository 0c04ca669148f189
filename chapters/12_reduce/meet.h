// Chapter 12: how threads that share a result put together what they found: the
// lanes of a warp, the warps of a block, the blocks of a grid.
#pragma once

#include <cstring>

#include "chapters/12_reduce/access.h"

namespace reduction {

template <class T>
__device__ T from_lane(T value, int far) {
  static_assert(sizeof(T) % 4 == 0, "lanes exchange words");
  unsigned words[sizeof(T) / 4];
  std::memcpy(words, &value, sizeof value);
  for (unsigned& word : words) word = __shfl_xor_sync(0xffffffff, word, far);
  std::memcpy(&value, words, sizeof value);
  return value;
}

// Where a thread sits: in which of the block's teams, as which member.
struct Seat {
  int team, member;
};

// Each team combines what its members have. Returns where the threads sit
// afterwards: member 0 has the team's result.
template <int kAcross, class Op, class Index>
__device__ Seat meet(const Op& op, const Task<Index>& task, Seat seat,
                     typename Op::Acc* acc) {
  const int t = threadIdx.x;
  for (int far = min(32, task.apart * task.members) / 2; far >= task.apart;
       far /= 2)
    for (int v = 0; v < kAcross; ++v)
      acc[v] = op.combine(acc[v], from_lane(acc[v], far));

  // Now a warp has one value for each of its teams. Those of a team change
  // places, so that they are in one warp.
  const int teams_here = min(32, task.apart);
  const int warps = task.members * teams_here / 32;
  if (warps <= 1) return seat;
  __shared__ typename Op::Acc shared[kAcross][kBlock];
  if (t % 32 < teams_here)
    for (int v = 0; v < kAcross; ++v)
      shared[v][t / 32 * teams_here + t % 32] = acc[v];
  __syncthreads();
  seat = {t / warps, t % warps};
  const int place = task.apart == 1 ? t : seat.member * task.teams + seat.team;
  for (int v = 0; v < kAcross; ++v)
    if (seat.team < task.teams) acc[v] = shared[v][place];
  for (int far = warps / 2; far > 0; far /= 2)
    for (int v = 0; v < kAcross; ++v)
      acc[v] = op.combine(acc[v], from_lane(acc[v], far));
  return seat;
}

// Whether all other blocks that count have been here. The counter is 0 again
// after the last one.
__device__ inline bool is_last(unsigned* counter) {
  __shared__ bool last;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();  // What this block wrote comes before its count.
    last = atomicInc(counter, gridDim.y - 1) == gridDim.y - 1;
    __threadfence();  // What the others wrote is read after their counts.
  }
  __syncthreads();
  return last;
}

// Combines what all blocks have left, each member some of it: several parts are
// under way before the first is needed.
template <int kAcross, class Op, class Index>
__device__ void gather(const Op& op, const Task<Index>& task, Seat seat,
                       const Part<typename Op::Acc, kAcross>* parts,
                       typename Op::Acc* acc) {
  using Found = Part<typename Op::Acc, kAcross>;
  constexpr int kAtOnce = Found::kAtOnce;
  const int step = task.members, all = gridDim.y;
  for (int y = seat.member; y < all; y += kAtOnce * step) {
    Found part[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
      for (auto& nothing : part[k].v) nothing = op.identity();
      if (const int from = y + k * step; from < all)
        part[k] = parts[from * task.teams + seat.team];
    }
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k)
      for (int v = 0; v < kAcross; ++v)
        acc[v] = op.combine(acc[v], part[k].v[v]);
  }
}

}  // namespace reduction
