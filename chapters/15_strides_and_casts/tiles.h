// Chapter 15: tiles, for inputs whose neighbours lie along another dimension
// than the output's.
#pragma once

#include <algorithm>

#include "chapters/15_strides_and_casts/access.h"

namespace strided {

constexpr int kLines = kBlock / kTile;  // The threads of a block side by side,
constexpr int kEach = kTile / kLines;   // and what each has in a tile.

// At least this many blocks fit an SM, by their registers.
template <class Casts>
constexpr int kTileBlocks = kIsCast<Casts> ? 3 : 4;

template <class T>
using InTile = T[kEach];

// A row begins one bank further than the row before, so that a column has as
// many banks as a row.
template <class A>
constexpr int kPitch = kTile + std::max<int>(1, 4 / sizeof(A));
template <class A>
using Rows = A[kTile][kPitch<A>];

// What a thread has of an array's tile: every kLines-th element of a column,
// from `line` to before `end`. None, if the matrix has no such column.
struct Column {
  uint32_t end, first, step;  // The first element's bytes, and on from there.

  __device__ bool has(uint32_t line, int k) const {
    return line + k * kLines < end;
  }
};

// A block's tile of the first two dimensions.
template <int kArrays>
struct Tile {
  uint32_t lane = threadIdx.x % kTile, line = threadIdx.x / kTile;
  uint32_t columns, rows;
  typename Task<kArrays>::Offsets at;

  __device__ explicit Tile(const Task<kArrays>& task) {
    const uint32_t width = task.size[0].divisor, height = task.size[1].divisor;
    const uint32_t left = blockIdx.x % task.tiles[0] * kTile;
    const uint32_t others = blockIdx.x / task.tiles[0];
    const uint32_t top = others % task.tiles[1] * kTile;
    const uint32_t outer = others / task.tiles[1];
    columns = min(uint32_t{kTile}, width - left);
    rows = min(uint32_t{kTile}, height - top);
    at = task.place((outer * height + top) * width + left);
  }
  // Of the tile as it is computed, or with rows and columns exchanged.
  __device__ Column column(const Task<kArrays>& task, int array,
                           bool turned) const {
    uint32_t across = task.stride[0].of[array];
    uint32_t down = task.stride[1].of[array];
    uint32_t wide = columns, high = rows;
    if (turned) {
      across = down;
      down = task.stride[0].of[array];
      wide = rows;
      high = columns;
    }
    return {lane < wide ? high : 0, at.of[array] + lane * across + line * down,
            kLines * down};
  }
};

template <class Casts, class A, int kArrays>
__device__ void read(const Task<kArrays>& task, int array,
                     const Tile<kArrays>& tile, Rows<A>& shared, InTile<A>& v) {
  const bool turned = task.turned[array];
  const Column column = tile.column(task, array, turned);
  as_stored<A>(Casts{}, task.type.of[array], [&](auto tag) {
    using T = typename decltype(tag)::Element;
    const char* const data = task.data[array] + column.first;
    Pack<T, 1> got[kEach];
#pragma unroll
    for (int k = 0; k < kEach; ++k)
      if (column.has(tile.line, k))
        got[k] = *reinterpret_cast<const Pack<T, 1>*>(data + k * column.step);
#pragma unroll
    for (int k = 0; k < kEach; ++k)
      if (column.has(tile.line, k)) v[k] = cast<A>(got[k].get(0));
  });
  if (!turned) return;
  __syncthreads();  // What was here before has been read.
#pragma unroll
  for (int k = 0; k < kEach; ++k)
    if (column.has(tile.line, k))
      shared[tile.line + k * kLines][tile.lane] = v[k];
  __syncthreads();
  const Column out = tile.column(task, 0, false);
#pragma unroll
  for (int k = 0; k < kEach; ++k)
    if (out.has(tile.line, k)) v[k] = shared[tile.lane][tile.line + k * kLines];
}

template <class Casts, class R, int kArrays>
__device__ void write(const Task<kArrays>& task, int array,
                      const Tile<kArrays>& tile, const InTile<R>& v) {
  const Column column = tile.column(task, array, false);
  as_stored<R>(Casts{}, task.type.of[array], [&](auto tag) {
    using T = typename decltype(tag)::Element;
    char* const data = task.data[array] + column.first;
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      if (!column.has(tile.line, k)) continue;
      Pack<T, 1> pack;
      pack.set(0, cast<T>(v[k]));
      *reinterpret_cast<Pack<T, 1>*>(data + k * column.step) = pack;
    }
  });
}

}  // namespace strided
