// Chapter 12: where the i-th element of some dimensions lies, and what a load
// brings.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "chapters/12_reduce/plan.h"

namespace reduction {

// Dividing by a number that the host knows: a multiplication and a shift.
template <class Index>
struct Divider {
  Index divisor = 1;
  unsigned shift = 0, factor = 0;

  Divider() = default;
  explicit Divider(int64_t d) : divisor(static_cast<Index>(d)) {
    if constexpr (sizeof(Index) == 8) return;
    shift = std::bit_width(static_cast<uint64_t>(d - 1));
    factor =
        static_cast<unsigned>(((1ull << shift) - d) * (1ull << 32) / d) + 1;
  }
  __device__ Index divide(Index i) const {
    if constexpr (sizeof(Index) == 8) return i / divisor;
    return (__umulhi(i, factor) + i) >> shift;
  }
};

// Where the i-th of some dimensions' elements is, in x and in out.
template <class Index>
struct Offsets {
  int rank;
  Divider<Index> size[kMostDims];
  Index stride[kMostDims], out_stride[kMostDims];

  explicit Offsets(const Dims& dims) : rank(dims.rank) {
    for (int d = 0; d < rank; ++d) {
      size[d] = Divider<Index>(std::max<int64_t>(dims.dim[d].size, 1));
      stride[d] = static_cast<Index>(dims.dim[d].stride);
      out_stride[d] = static_cast<Index>(dims.dim[d].out_stride);
    }
  }
  struct Offset {
    Index x = 0, out = 0;
  };
  __device__ Offset at(Index i) const {
    Offset sum;
    int d = 0;
#pragma unroll 1
    for (; d + 1 < rank; ++d) {
      const Index next = size[d].divide(i), rest = i - next * size[d].divisor;
      sum.x += rest * stride[d];
      sum.out += rest * out_stride[d];
      i = next;
    }
    return {sum.x + i * stride[d], sum.out + i * out_stride[d]};
  }
};

template <class T, int kSize>
struct alignas(std::min<size_t>(16, sizeof(T) * kSize)) Pack {
  T v[kSize];
};

// Words until an element is wanted: small ones would take a register each.
template <class T, int kSize>
struct Load {
  static constexpr int kAtOnce = in_flight(sizeof(T) * kSize);
  using Word = std::conditional_t<sizeof(T) * kSize % 4 == 0, unsigned, T>;
  Pack<Word, sizeof(T) * kSize / sizeof(Word)> words;

  __device__ T operator[](int e) const {
    T element;
    std::memcpy(&element, reinterpret_cast<const T*>(words.v) + e, sizeof(T));
    return element;
  }
};

}  // namespace reduction
