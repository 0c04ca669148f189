// Chapter 14: a matrix of few rows, or of few columns, has tiles of its own.
//
// They are as long as they are narrow, so that they hold as many elements as
// any other tile and few of their places stay empty.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "chapters/14_transpose/tile.h"
#include "common/check.h"

namespace tiles {

constexpr int kNarrow = 32;       // Up to this many rows or columns.
constexpr int kLogElements = 12;  // A shift is quicker than a division.
constexpr int kElements = 1 << kLogElements;
static_assert(kElements == kSide * kSide);

// A tile's short side is 2^log_few elements, of which `few` are the matrix's.
// Along its long side it is a part of `many`, from `first` on.
struct Narrow {
  int64_t few, many, first;
  int log_few;

  __device__ int length() const { return kElements >> log_few; }
  // Each s begins so many banks behind the one before that a warp's pieces fill
  // them all.
  __device__ int in_tile(int s, int l) const {
    return s * (length() + (kNarrow >> log_few)) + l;
  }
  __device__ bool has(int s, int l) const {
    return s < few && first + l < many;
  }
};

// x has few rows where kWide is true, and few columns where it is not.
template <class T, bool kWide>
__global__ void narrow_kernel(const T* __restrict__ x, T* __restrict__ y,
                              Narrow tile) {
  __shared__ T kept[kElements + kNarrow];
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  tile.first = int64_t{blockIdx.x} * tile.length();

  // Calls move(place in the tile, element) with neighbours in neighbouring
  // threads, of the matrix with few rows or of the one with few columns.
  const auto each = [&](bool wide, auto move) {
    for (int k = 0; k < kEach; ++k) {
      const int e = k * kWarps * 32 + thread;
      const int s = wide ? e >> (kLogElements - tile.log_few)
                         : e & ((1 << tile.log_few) - 1);
      const int l = wide ? e & (tile.length() - 1) : e >> tile.log_few;
      const int64_t i = wide ? s * tile.many + (tile.first + l)
                             : (tile.first + l) * tile.few + s;
      if (tile.has(s, l)) move(tile.in_tile(s, l), i);
    }
  };
  each(kWide, [&](int place, int64_t i) { kept[place] = x[i]; });
  __syncthreads();
  each(!kWide, [&](int place, int64_t i) { y[i] = kept[place]; });
}

inline bool is_narrow(int64_t rows, int64_t columns) {
  return std::min(rows, columns) <= kNarrow;
}

template <class T>
void transpose_narrow(const T* x, T* y, int64_t rows, int64_t columns,
                      cudaStream_t stream) {
  Narrow tile = {std::min(rows, columns), std::max(rows, columns)};
  tile.log_few = std::bit_width(static_cast<uint64_t>(tile.few - 1));
  const int64_t length = kElements >> tile.log_few;
  const int64_t grid = (tile.many + length - 1) / length;
  const auto kernel =
      rows < columns ? narrow_kernel<T, true> : narrow_kernel<T, false>;
  kernel<<<grid, dim3(32, kWarps), 0, stream>>>(x, y, tile);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace tiles
