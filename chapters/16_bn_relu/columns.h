// Chapter 16: channels last, in one launch. A block normalises what it has
// summed up itself, and keeps it, or the end of it, in registers.
#pragma once

#include "chapters/16_bn_relu/normalise.h"

namespace batch_norm {

// So many packs of each of two arrays a thread asks for at once. The last of
// them it keeps, in half of its registers; those before travel twice.
constexpr int kKept = 8;

// A kept pack is so many bits: as elements, halves would take twice the room.
template <class T>
__device__ Pack<T, kWidest<T>> pack_of(uint4 bits) {
  return __builtin_bit_cast(Pack<T, kWidest<T>>, bits);
}

// What a thread has of x: a pack of channels, in rows that are a step apart.
template <int kPack>
struct Strip {
  int group, part, column, below;  // Its first channel, its row of a turn.
  int turns, rows;                 // Of the block, and of this thread.
  int64_t channel, first, step;

  __device__ explicit Strip(const Columns& columns) {
    constexpr int kAcross = kWide / kPack;  // Threads that share a row.
    group = blockIdx.x % columns.groups;
    part = blockIdx.x / columns.groups;
    column = threadIdx.x % kAcross * kPack;
    below = threadIdx.x / kAcross;
    turns = columns.turns_of(part);
    rows = columns.rows_of(part, below);
    channel = int64_t{group} * kWide + column;
    first = (columns.row(part, 0) + below) * columns.channels + channel;
    step = columns.row(0, 1) * columns.channels;
  }
  __device__ bool has(int turn) const { return turn < rows; }
  __device__ int64_t element(int turn) const { return first + turn * step; }

  // All packs are asked for before the first of them is needed.
  template <class T>
  __device__ void read(const T* from, int turn, uint4 (&to)[kKept]) const {
#pragma unroll
    for (int k = 0; k < kKept; ++k)
      if (has(turn + k))
        to[k] = *reinterpret_cast<const uint4*>(from + element(turn + k));
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

// What `count` sums, at most kMost, of so many elements come to. A warp does
// it.
template <class Sums, int kMost, class Get>
__device__ Sums total(int count, int64_t elements, Get get) {
  Sums of_lane[kMost / 32] = {};
#pragma unroll
  for (int k = 0; k < kMost / 32; ++k) {
    const int mine = threadIdx.x % 32 + 32 * k;
    if (mine < count) of_lane[k] = get(mine);
  }
  return Sums::of_warp(of_lane, elements);
}

// From each thread's sums to what normalising needs of its channels. A warp has
// some channels: it joins what the block's threads found of them, and once the
// group has met, what its blocks found. Each block does, in the same order, so
// that all of them get the same bits and none waits for another one's result.
template <class Sums, int kPack>
__device__ void meet(const Columns& columns, const Strip<kPack>& my,
                     const typename Sums::Ends& ends, const Lent& lent,
                     const float2 (&sums)[kPack], Channel (&of)[kPack]) {
  constexpr int kDown = kTall * kPack / kWide, kEach = kWide / (kTall / 32);
  __shared__ float2 of_threads[kWide][kDown + 1];  // 1: other banks below.
  __shared__ Channel found[kWide];
  const int lane = threadIdx.x % 32, first = threadIdx.x / 32 * kEach;
  const int64_t channel = int64_t{my.group} * kWide + first;
  const auto parts = static_cast<float2*>(lent.parts) + channel * columns.parts;
  const int64_t mine = channel + lane % kEach;  // What it needs comes early.
  const auto known = Sums::known(ends, mine);
  const float shift = Sums::shift(ends, mine, mine);
  for (int e = 0; e < kPack; ++e) of_threads[my.column + e][my.below] = sums[e];
  __syncthreads();
  for (int c = 0; c < kEach; ++c) {
    const Sums all =
        total<Sums, kDown>(kDown, columns.rows_of(my.part), [&](int below) {
          return Sums::of(columns.rows_of(my.part, below),
                          of_threads[first + c][below]);
        });
    if (lane == c) parts[c * columns.parts + my.part] = all.without_count();
  }
  meet_group(lent.meetings + my.group, columns.parts, my.part);
  for (int c = 0; c < kEach; ++c) {
    const Sums all =
        total<Sums, kMostParts>(columns.parts, columns.rows, [&](int part) {
          return Sums::of(columns.rows_of(part),
                          __ldcg(parts + c * columns.parts + part));
        });
    if (lane == c)
      found[first + c] =
          all.finish(mine, shift, known, ends, columns.rows, my.part == 0);
  }
  __syncthreads();
#pragma unroll
  for (int e = 0; e < kPack; ++e) of[e] = found[my.column + e];
}

// Puts `count` rows to the means and squares of `before` ones: first their own
// mean, then the squares about it, and one division for both together.
template <class T, int kPack>
__device__ void add(const uint4 (&x)[kKept], int count, int before,
                    const float (&shift)[kPack], float2 (&sums)[kPack]) {
#pragma unroll
  for (int e = 0; e < kPack; ++e) {
    float sum = 0, squares = 0;
#pragma unroll
    for (int k = 0; k < kKept; ++k)
      if (k < count) sum += pack_of<T>(x[k])[e] - shift[e];
    const float mean = sum / max(count, 1);
#pragma unroll
    for (int k = 0; k < kKept; ++k) {
      const float away = pack_of<T>(x[k])[e] - shift[e] - mean;
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
  const Strip<kPack> my(columns);
  uint4 x[kKept] = {}, addend[kKept] = {};
  float shift[kPack];
  for (int e = 0; e < kPack; ++e) shift[e] = to_float(at.x[my.channel + e]);
  float2 sums[kPack] = {};
  int turn = 0;
  for (;; turn += kKept) {
    my.read(at.x, turn, x);
    add<T>(x, min(my.rows - turn, kKept), turn, shift, sums);
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
      auto y = pack_of<T>(x[k]);
      uint32_t bits = 0;
#pragma unroll
      for (int e = 0; e < kPack; ++e) {
        const float v = normalised(y[e], of[e]) + pack_of<T>(addend[k])[e];
        y.set(e, at.relu ? rectified(v) : v);
        bits |= uint32_t{y[e] > 0.f} << e;
      }
      const uint32_t word = at.mask ? joined<kPack>(bits) : 0;
      if (!my.has(turn + k)) break;
      const int64_t i = my.element(turn + k);
      store(at.y + i, y, kPack);
      if (at.mask && i % kWide == 0) at.mask[i / 32] = word;
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
  const Strip<kPack> my(columns);
  uint4 g[kKept] = {}, x[kKept] = {};
  const auto read = [&](int turn) {
    my.read(at.from.dy, turn, g);
    my.read(at.from.x, turn, x);
    if (!at.from.mask) return;
#pragma unroll
    for (int k = 0; k < kKept; ++k) {
      const uint32_t* const word = at.from.mask + my.element(turn + k) / 32;
      const uint32_t bits = my.has(turn + k) ? *word >> my.column : 0;
      auto selected = pack_of<T>(g[k]);
      for (int e = 0; e < kPack; ++e)
        if (!(bits >> e & 1)) selected.bits[e] = 0;
      g[k] = __builtin_bit_cast(uint4, selected);
    }
  };
  float mean[kPack];
  for (int e = 0; e < kPack; ++e) mean[e] = at.from.mean[my.channel + e];
  float2 sums[kPack] = {};
  int turn = 0;
  for (;; turn += kKept) {
    read(turn);
#pragma unroll
    for (int k = 0; k < kKept; ++k)
      for (int e = 0; e < kPack; ++e)
        if (my.has(turn + k)) {
          const float slope = pack_of<T>(g[k])[e];
          sums[e].x += slope;
          sums[e].y += slope * (pack_of<T>(x[k])[e] - mean[e]);
        }
    if (turn + kKept >= my.turns) break;
  }
  Channel of[kPack];
  meet<Gradients<T, 1>>(columns, my, at.from, lent, sums, of);
  for (;; turn -= kKept) {
#pragma unroll
    for (int k = 0; k < kKept; ++k) {
      if (!my.has(turn + k)) break;
      const auto slope = pack_of<T>(g[k]);
      auto dx = pack_of<T>(x[k]);
      for (int e = 0; e < kPack; ++e) {
        const float away = dx[e] - of[e].mean;
        dx.set(e, of[e].scale * (slope[e] - of[e].a - away * of[e].b));
      }
      store(at.dx + my.element(turn + k), dx, kPack);
      if (at.d_addend) store(at.d_addend + my.element(turn + k), slope, kPack);
    }
    if (turn == 0) return;
    read(turn - kKept);
  }
}

}  // namespace batch_norm
