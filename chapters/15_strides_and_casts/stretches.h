// Chapter 15: packs of arrays that are one stretch of memory each.
//
// Element i lies i elements after an array's first one, so nothing is divided
// and a kernel needs few registers. The outputs' packs are aligned; an input's
// may begin anywhere.
#pragma once

#include "chapters/15_strides_and_casts/access.h"

namespace strided {

// A piece of which each array is one stretch.
template <int kArrays>
struct Stretches {
  char* data[kArrays];
  Types<kArrays> type;
  uint32_t shift[kArrays];    // Bytes by which an input's packs lie too late.
  bool shifted = false;       // Whether any do.
  uint32_t head, end, count;  // Where the packs begin and end.

  Stretches(const Piece& piece, const Types<kArrays>& types)
      : type(types),
        head(std::min<int64_t>(piece.head, piece.count())),
        end(head + packs_of(piece) * piece.width),
        count(piece.count()) {
    for (int a = 0; a < kArrays; ++a) {
      data[a] = reinterpret_cast<char*>(piece.at[a]);
      shift[a] = piece.shift[a];
      shifted |= shift[a] != 0;
    }
  }
};

// The bytes of two neighbouring packs from `shift` on, which is less than a
// pack: whole words first, then within them.
template <class P>
__device__ P shifted(const P& low, const P& high, uint32_t shift) {
  constexpr int kWords = sizeof(P) / 4;
  uint32_t words[2 * kWords];
  std::memcpy(words, &low, sizeof(P));
  std::memcpy(words + kWords, &high, sizeof(P));
#pragma unroll
  for (int by = kWords / 2; by > 0; by /= 2)
#pragma unroll
    for (int w = 0; w < kWords + by; ++w)
      words[w] = shift & 4 * by ? words[w + by] : words[w];
#pragma unroll
  for (int w = 0; w < kWords; ++w)
    words[w] = __funnelshift_r(words[w], words[w + 1], 8 * (shift % 4));
  P pack;
  std::memcpy(static_cast<void*>(&pack), words, sizeof(P));
  return pack;
}

// The packs that begin with element i and further on, one per round of the
// block, as far as they are before `end`. The first one is; it is read again
// instead of what is not. Nothing branches on the shift: all loads of all
// arrays are under way at once.
template <class Casts, bool kShifted, class A, int kWidth, int kAccesses,
          int kArrays>
__device__ void read(const Stretches<kArrays>& task, int array, uint32_t i,
                     uint32_t end, Held<A, kWidth, kAccesses>& v) {
  as_stored<A>(Casts{}, task.type.of[array], [&](auto tag) {
    using T = typename decltype(tag)::Element;
    using P = Pack<T, kWidth>;
    const uint32_t shift = kShifted ? task.shift[array] : 0;
    const char* const data = task.data[array] - shift;
    P packs[kAccesses], next[kAccesses];
#pragma unroll
    for (int k = 0; k < kAccesses; ++k) {
      const uint32_t first = i + k * kBlock * kWidth;
      const uint32_t place = (first < end ? first : i) * sizeof(T);
      packs[k] = *reinterpret_cast<const P*>(data + place);
      if constexpr (kShifted) {  // Its own pack again, if there is no shift.
        const uint32_t after = shift != 0 ? sizeof(P) : 0;
        next[k] = *reinterpret_cast<const P*>(data + place + after);
      }
    }
    if constexpr (kShifted && sizeof(P) % 4 == 0)  // As was planned.
#pragma unroll
      for (int k = 0; k < kAccesses; ++k)
        packs[k] = shifted(packs[k], next[k], shift);
#pragma unroll
    for (int k = 0; k < kAccesses; ++k)
#pragma unroll
      for (int e = 0; e < kWidth; ++e) v[k][e] = cast<A>(packs[k].get(e));
  });
}

template <class Casts, class R, int kWidth, int kAccesses, int kArrays>
__device__ void write(const Stretches<kArrays>& task, int array, uint32_t i,
                      uint32_t end, const Held<R, kWidth, kAccesses>& v) {
  as_stored<R>(Casts{}, task.type.of[array], [&](auto tag) {
    using T = typename decltype(tag)::Element;
    using P = Pack<T, kWidth>;
#pragma unroll
    for (int k = 0; k < kAccesses; ++k) {
      const uint32_t first = i + k * kBlock * kWidth;
      if (first >= end) return;
      P pack;
#pragma unroll
      for (int e = 0; e < kWidth; ++e) pack.set(e, cast<T>(v[k][e]));
      *reinterpret_cast<P*>(task.data[array] + first * sizeof(T)) = pack;
    }
  });
}

}  // namespace strided
