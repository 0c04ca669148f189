// Chapter 16: channels last, in one launch. A block normalises what it has
// summed up itself, and keeps it, or the end of it, in registers.
#pragma once

#include "chapters/16_bn_relu/normalise.h"

namespace batch_norm {

// A thread asks for kKept packs of each of two arrays at once. The last of
// them it keeps, in half of its registers; those before travel twice.
template <class T>
using Packs = Pack<T, kWidest<T>>[kKept];

// What a thread has of x: a pack of channels, in rows that are a step apart.
template <class T>
struct Strip {
  int group, part, column, below;  // Its first channel, its row of a turn.
  int turns, rows;                 // Of the block, and of this thread.
  int64_t channel, first, step;

  __device__ explicit Strip(const Columns& columns) {
    group = blockIdx.x % columns.groups;
    part = blockIdx.x / columns.groups;
    column = threadIdx.x % columns.across * kWidest<T>;
    below = threadIdx.x / columns.across;
    turns = columns.turns_of(part);
    rows = columns.rows_of(part, below);
    channel = int64_t{group} * columns.across * kWidest<T> + column;
    first = (columns.row(part, 0) + below) * columns.channels + channel;
    step = columns.row(0, 1) * columns.channels;
  }
  __device__ bool has(int turn) const { return turn < rows; }
  __device__ int64_t element(int turn) const { return first + turn * step; }

  // All packs are asked for before the first of them is needed.
  __device__ void read(const T* from, int turn, Packs<T>& to) const {
#pragma unroll
    for (int k = 0; k < kKept; ++k)
      if (has(turn + k)) to[k] = load<T, kWidest<T>>(from + element(turn + k));
  }
};

// ---- How the blocks of a group meet -----------------------------------------

// All of them together add the highest bit: it changes when the last one comes,
// and the bits below are 0 again, ready for the next meeting.
__device__ inline void meet_group(unsigned* meeting, int parts, int part) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();  // What this block wrote comes before its count.
    const unsigned before =
        atomicAdd(meeting, part == 0 ? (1u << 31) - (parts - 1) : 1);
    while ((*static_cast<volatile unsigned*>(meeting) ^ before) >> 31 == 0) {
    }
    __threadfence();  // What the others wrote is read after their counts.
  }
  __syncthreads();
}

// What `count` sums of so many elements come to. Some lanes do it, and others
// for other channels; each has kOfLane sums at most.
template <class Sums, int kOfLane, class Get>
__device__ Sums total(int lanes, int count, int64_t elements, Get get) {
  Sums of_lane[kOfLane] = {};
#pragma unroll
  for (int k = 0; k < kOfLane; ++k) {
    const int mine = threadIdx.x % lanes + lanes * k;
    if (mine < count) of_lane[k] = get(mine);
  }
  return Sums::of_lanes(of_lane, lanes, elements);
}

// From each thread's sums to what normalising needs of its channels. Some lanes
// have a channel: they join what the block's threads found of it, and once the
// group has met, what its blocks found. Each block does, in the same order, so
// that all of them get the same bits and none waits for another one's result.
template <class Sums, class T, int kPack = kWidest<T>>
__device__ void meet(const Columns& columns, const Strip<T>& my,
                     const typename Sums::Ends& ends, const Lent& lent,
                     const float2 (&sums)[kPack], Channel (&of)[kPack]) {
  constexpr int kMostWide = kMostAcross * kPack;
  constexpr int kFewest = kTall / kMostWide;  // Lanes of a channel.
  const int wide = columns.across * kPack, lanes = kTall / wide;
  const int down = columns.down;  // kPack for each lane.
  __shared__ float2 of_threads[kTall * kPack + kMostWide];
  __shared__ Channel found[kMostWide];
  const int column = threadIdx.x / lanes;
  const int64_t channel = int64_t{my.group} * wide + column;
  float2* const parts =
      static_cast<float2*>(lent.parts) + channel * columns.parts;
  // What the end needs of the channel is asked for early.
  const auto known = Sums::known(ends, channel);
  const float shift = Sums::shift(ends, channel, channel);
  for (int e = 0; e < kPack; ++e)  // + 1: other banks for the next column.
    of_threads[(my.column + e) * (down + 1) + my.below] = sums[e];
  __syncthreads();
  const Sums of_block =
      total<Sums, kPack>(lanes, down, columns.rows_of(my.part), [&](int below) {
        return Sums::of(columns.rows_of(my.part, below),
                        of_threads[column * (down + 1) + below]);
      });
  const bool finishes = threadIdx.x % lanes == 0;
  if (finishes) parts[my.part] = of_block.without_count();
  meet_group(lent.meetings + my.group, columns.parts, my.part);
  const Sums all = total<Sums, kMostParts / kFewest>(
      lanes, columns.parts, columns.rows, [&](int part) {
        return Sums::of(columns.rows_of(part), __ldcg(parts + part));
      });
  if (finishes)
    found[column] =
        all.finish(channel, shift, known, ends, columns.rows, my.part == 0);
  __syncthreads();
#pragma unroll
  for (int e = 0; e < kPack; ++e) of[e] = found[my.column + e];
}

// Calls f(count) with how many of the packs from this turn on a thread has:
// with a constant, as a rule, so that it need not ask for each.
template <class T, class F>
__device__ void with_count(const Strip<T>& my, int turn, F f) {
  if (my.has(turn + kKept - 1)) return f(kKept);
  f(max(my.rows - turn, 0));
}

// Puts `count` rows to the means and squares of `before` ones: first their own
// mean, then the squares about it, and one division for both together.
template <class T, int kPack>
__device__ void add(const Packs<T>& x, int count, int before,
                    const float (&shift)[kPack], float2 (&sums)[kPack]) {
#pragma unroll
  for (int e = 0; e < kPack; ++e) {
    float sum = 0, squares = 0;
#pragma unroll
    for (int k = 0; k < kKept; ++k)
      if (k < count) sum += x[k][e] - shift[e];
    const float mean = sum / max(count, 1);
#pragma unroll
    for (int k = 0; k < kKept; ++k) {
      const float away = x[k][e] - shift[e] - mean;
      if (k < count) squares += away * away;
    }
    auto all = Moments<T, 1>::of(before, sums[e]);
    all.join({static_cast<float>(count), mean, squares});
    sums[e] = all.without_count();
  }
}

template <class T, int kPack = kWidest<T>>
__global__ void __launch_bounds__(kTall, 1)
    columns_kernel(const __grid_constant__ Columns columns,
                   const __grid_constant__ Statistics<T> channels,
                   const __grid_constant__ Elements<T> at, Lent lent) {
  const Strip<T> my(columns);
  Packs<T> x = {}, addend = {};
  float shift[kPack];
  for (int e = 0; e < kPack; ++e) shift[e] = to_float(at.x[my.channel + e]);
  float2 sums[kPack] = {};
  int turn = 0;
  for (;; turn += kKept) {
    my.read(at.x, turn, x);
    with_count(my, turn,
               [&](int count) { add<T>(x, count, turn, shift, sums); });
    if (turn + kKept >= my.turns) break;
  }
  if (at.addend) my.read(at.addend, turn, addend);
  Channel of[kPack];
  meet<Moments<T, 1>>(columns, my, channels, lent, sums, of);

  // The end of x is here still. What comes before it is read again, backwards:
  // what was read last is the likeliest to be in the L2 cache.
  for (;; turn -= kKept) {
#pragma unroll
    for (int k = 0; k < kKept; ++k) {
      if (turn + k >= my.turns) break;  // For all: whole warps join bits.
      uint32_t bits = 0;
#pragma unroll
      for (int e = 0; e < kPack; ++e) {
        const float v = normalised(x[k][e], of[e]) + addend[k][e];
        x[k].set(e, at.relu ? rectified(v) : v);
        bits |= uint32_t{x[k][e] > 0.f} << e;
      }
      const uint32_t word = at.mask ? joined<kPack>(bits) : 0;
      if (!my.has(turn + k)) break;
      const int64_t i = my.element(turn + k);
      store(at.y + i, x[k]);
      if (at.mask && i % 32 == 0) at.mask[i / 32] = word;
    }
    if (turn == 0) return;
    my.read(at.x, turn - kKept, x);
    if (at.addend) my.read(at.addend, turn - kKept, addend);
  }
}

template <class T, int kPack = kWidest<T>>
__global__ void __launch_bounds__(kTall, 1)
    backward_columns_kernel(const __grid_constant__ Columns columns,
                            const __grid_constant__ ElementSlopes<T> at,
                            Lent lent) {
  const Strip<T> my(columns);
  Packs<T> g = {}, x = {};
  const auto read = [&](int turn) {
    my.read(at.from.dy, turn, g);
    my.read(at.from.x, turn, x);
    if (!at.from.mask) return;
#pragma unroll
    for (int k = 0; k < kKept; ++k) {
      const uint32_t* const word = at.from.mask + my.element(turn + k) / 32;
      const uint32_t bits = my.has(turn + k) ? *word >> my.column % 32 : 0;
      g[k] = selected(g[k], bits);
    }
  };
  float mean[kPack];
  for (int e = 0; e < kPack; ++e) mean[e] = at.from.mean[my.channel + e];
  float2 sums[kPack] = {};
  int turn = 0;
  for (;; turn += kKept) {
    read(turn);
    with_count(my, turn, [&](int count) {
#pragma unroll
      for (int k = 0; k < kKept; ++k)
        if (k < count)
#pragma unroll
          for (int e = 0; e < kPack; ++e) {
            sums[e].x += g[k][e];
            sums[e].y += g[k][e] * (x[k][e] - mean[e]);
          }
    });
    if (turn + kKept >= my.turns) break;
  }
  Channel of[kPack];
  meet<Gradients<T, 1>>(columns, my, at.from, lent, sums, of);
  for (;; turn -= kKept) {
#pragma unroll
    for (int k = 0; k < kKept; ++k) {
      if (!my.has(turn + k)) break;
      for (int e = 0; e < kPack; ++e) {
        const float away = x[k][e] - of[e].mean;
        x[k].set(e, of[e].scale * (g[k][e] - of[e].a - away * of[e].b));
      }
      store(at.dx + my.element(turn + k), x[k]);
      if (at.d_addend) store(at.d_addend + my.element(turn + k), g[k]);
    }
    if (turn == 0) return;
    read(turn - kKept);
  }
}

}  // namespace batch_norm
