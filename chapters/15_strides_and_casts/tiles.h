// Chapter 15: tiles, for inputs whose neighbours lie along another dimension
// than the output's.
#pragma once

#include <algorithm>

#include "chapters/15_strides_and_casts/access.h"

namespace strided {

constexpr int kLines = kBlock / kTile;  // The threads of a block side by side,
constexpr int kEach = kTile / kLines;   // and what each has in a tile.

template <class T>
using InTile = T[kEach];

// A row begins one bank further than the row before, so that a column has as
// many banks as a row.
template <class A>
constexpr int kPitch = kTile + std::max<int>(1, 4 / sizeof(A));
template <class A>
using Rows = A[kTile][kPitch<A>];

// A block's tile of the first two dimensions. A thread has the elements of one
// column, `lane`, in the rows `line`, `line + kLines`, ...
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
    at = task.at((outer * height + top) * width + left);
  }
  __device__ bool has(int k) const {
    return lane < columns && line + k * kLines < rows;
  }
  // The same with rows and columns exchanged.
  __device__ bool has_turned(int k) const {
    return lane < rows && line + k * kLines < columns;
  }
  __device__ uint32_t place(const Task<kArrays>& task, int array, int k,
                            bool turned) const {
    return at.of[array] + lane * task.stride[turned].of[array] +
           (line + k * kLines) * task.stride[!turned].of[array];
  }
};

template <class Casts, class A, int kArrays>
__device__ void read(const Task<kArrays>& task, int array,
                     const Tile<kArrays>& tile, Rows<A>& shared, InTile<A>& v) {
  const bool turned = task.turned[array];
  const auto has = [&](int k) {
    return turned ? tile.has_turned(k) : tile.has(k);
  };
  as_stored<A>(Casts{}, task.type[array], [&](auto tag) {
    using T = typename decltype(tag)::Element;
    Pack<T, 1> got[kEach];
#pragma unroll
    for (int k = 0; k < kEach; ++k)
      if (has(k))
        got[k] = *reinterpret_cast<const Pack<T, 1>*>(
            task.data[array] + tile.place(task, array, k, turned));
#pragma unroll
    for (int k = 0; k < kEach; ++k)
      if (has(k)) v[k] = cast<A>(got[k].get(0));
  });
  if (!turned) return;
  __syncthreads();  // What was here before has been read.
#pragma unroll
  for (int k = 0; k < kEach; ++k)
    if (has(k)) shared[tile.line + k * kLines][tile.lane] = v[k];
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kEach; ++k)
    if (tile.has(k)) v[k] = shared[tile.lane][tile.line + k * kLines];
}

template <class Casts, class R, int kArrays>
__device__ void write(const Task<kArrays>& task, int array,
                      const Tile<kArrays>& tile, const InTile<R>& v) {
  as_stored<R>(Casts{}, task.type[array], [&](auto tag) {
    using T = typename decltype(tag)::Element;
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      if (!tile.has(k)) continue;
      Pack<T, 1> pack;
      pack.set(0, cast<T>(v[k]));
      *reinterpret_cast<Pack<T, 1>*>(task.data[array] +
                                     tile.place(task, array, k, false)) = pack;
    }
  });
}

}  // namespace strided
