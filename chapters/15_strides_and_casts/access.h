// Chapter 15: where elements are, and how a thread reads and writes its packs.
#pragma once

#include "chapters/15_strides_and_casts/divider.h"
#include "chapters/15_strides_and_casts/paths.h"
#include "chapters/15_strides_and_casts/types.h"

namespace strided {

// A piece, as a kernel reads it: `count` elements, the arrays' strides in
// bytes.
template <int kArrays>
struct Task {
  struct Offsets {
    uint32_t of[kArrays] = {};
  };
  char* data[kArrays];
  Type type[kArrays];
  bool packed[kArrays], turned[kArrays], crosses;
  uint32_t head, whole, count;  // Elements before packs, in them, and in all.
  uint32_t tiles[2], steps, step[kArrays];
  int rank;
  Divider size[kMostDims];
  Offsets stride[kMostDims];

  explicit Task(const Piece& piece)
      : crosses(piece.dims[0].size % piece.width != 0),
        head(std::min<int64_t>(piece.head, piece.count())),
        whole(packs_of(piece) * piece.width),
        count(piece.count()),
        steps(piece.steps),
        rank(piece.dims.size()) {
    for (int a = 0; a < kArrays; ++a) {
      data[a] = reinterpret_cast<char*>(piece.at[a]);
      packed[a] = piece.packed[a];
      turned[a] = piece.turned[a];
      step[a] = piece.step[a];
    }
    for (int d = 0; d < rank; ++d) {
      const Dim& dim = piece.dims[d];
      size[d] = Divider(dim.size);
      for (int a = 0; a < kArrays; ++a) stride[d].of[a] = dim.stride[a];
      if (d < 2) tiles[d] = parts_of(dim.size, kTile);
    }
  }
  // Where element i is: its index in each dimension, times the stride there.
  __device__ Offsets at(uint32_t i) const {
    Offsets sum;
    int d = 0;
#pragma unroll 1
    for (; d + 1 < rank; ++d) {
      const uint32_t next = size[d].divide(i);
      const uint32_t rest = i - next * size[d].divisor;
      for (int a = 0; a < kArrays; ++a) sum.of[a] += rest * stride[d].of[a];
      i = next;
    }
    for (int a = 0; a < kArrays; ++a) sum.of[a] += i * stride[d].of[a];
    return sum;
  }
};

// What a kernel knows of the types in memory: that there are no casts, that
// what is cast is a C, or nothing, so that it has to ask.
struct NoCasts {};
template <class C>
struct CastsOf {};
struct AnyCasts {};
template <class Casts>
constexpr bool kIsCast = !std::is_same_v<Casts, NoCasts>;

// Calls visit with the type that is in memory, where a functor wants a T.
template <class T, class Visit>
__device__ void as_stored(NoCasts, Type, const Visit& visit) {
  visit(Tag<T>{});
}
template <class T, class C, class Visit>
__device__ void as_stored(CastsOf<C>, Type type, const Visit& visit) {
  if (type == kTypeOf<T>) return visit(Tag<T>{});
  visit(Tag<C>{});
}
template <class T, class Visit>
__device__ void as_stored(AnyCasts, Type type, const Visit& visit) {
  with_type(type, visit);
}

// ---- Packs ------------------------------------------------------------------

// The elements that a thread holds.
template <class T, int kWidth, int kAccesses>
using Held = T[kAccesses][kWidth];

// Which they are: the packs that begin at i and further on, one per round of
// the block, as far as they are before `end`.
template <int kArrays, int kWidth, int kAccesses>
struct Places {
  uint32_t first[kAccesses];
  bool there[kAccesses];
  typename Task<kArrays>::Offsets at[kAccesses];

  __device__ Places(const Task<kArrays>& task, uint32_t i, uint32_t end) {
#pragma unroll
    for (int k = 0; k < kAccesses; ++k) {
      first[k] = i + k * kBlock * kWidth;
      there[k] = first[k] < end;
      if (there[k]) at[k] = task.at(first[k]);
    }
  }
};

// All accesses are under way before the first element is needed.
template <class T, class A, int kArrays, int kWidth, int kAccesses>
__device__ void read_packs(const char* data, int array,
                           const Places<kArrays, kWidth, kAccesses>& places,
                           Held<A, kWidth, kAccesses>& v) {
  Pack<T, kWidth> packs[kAccesses];
#pragma unroll
  for (int k = 0; k < kAccesses; ++k)
    if (places.there[k])
      packs[k] = *reinterpret_cast<const Pack<T, kWidth>*>(
          data + places.at[k].of[array]);
#pragma unroll
  for (int k = 0; k < kAccesses; ++k) {
    if (!places.there[k]) continue;
#pragma unroll
    for (int e = 0; e < kWidth; ++e) v[k][e] = cast<A>(packs[k].get(e));
  }
}

// A pack may go on in the next row, or in the one after that.
template <class T, class A, int kArrays, int kWidth, int kAccesses>
__device__ void read_singles(const Task<kArrays>& task, const char* data,
                             int array,
                             const Places<kArrays, kWidth, kAccesses>& places,
                             Held<A, kWidth, kAccesses>& v) {
#pragma unroll
  for (int k = 0; k < kAccesses; ++k) {
    if (!places.there[k]) continue;
#pragma unroll
    for (int e = 0; e < kWidth; ++e) {
      const uint32_t at =
          task.crosses ? task.at(places.first[k] + e).of[array]
                       : places.at[k].of[array] + e * task.stride[0].of[array];
      const auto single = *reinterpret_cast<const Pack<T, 1>*>(data + at);
      v[k][e] = cast<A>(single.get(0));
    }
  }
}

// What type the elements have in memory is asked once for all of them.
template <class Casts, class A, int kArrays, int kWidth, int kAccesses>
__device__ void read(const Task<kArrays>& task, int array, uint32_t row,
                     const Places<kArrays, kWidth, kAccesses>& places,
                     Held<A, kWidth, kAccesses>& v) {
  const char* const data = task.data[array] + row * task.step[array];
  as_stored<A>(Casts{}, task.type[array], [&](auto tag) {
    using T = typename decltype(tag)::Element;
    if (kWidth == 1 || task.packed[array]) {
      read_packs<T, A>(data, array, places, v);
    } else {
      read_singles<T, A>(task, data, array, places, v);
    }
  });
}

template <class Casts, class R, int kArrays, int kWidth, int kAccesses>
__device__ void write(const Task<kArrays>& task, int array, uint32_t row,
                      const Places<kArrays, kWidth, kAccesses>& places,
                      const Held<R, kWidth, kAccesses>& v) {
  char* const data = task.data[array] + row * task.step[array];
  as_stored<R>(Casts{}, task.type[array], [&](auto tag) {
    using T = typename decltype(tag)::Element;
#pragma unroll
    for (int k = 0; k < kAccesses; ++k) {
      if (!places.there[k]) continue;
      Pack<T, kWidth> pack;
#pragma unroll
      for (int e = 0; e < kWidth; ++e) pack.set(e, cast<T>(v[k][e]));
      *reinterpret_cast<Pack<T, kWidth>*>(data + places.at[k].of[array]) = pack;
    }
  });
}

}  // namespace strided
