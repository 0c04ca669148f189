// Chapter 15: where elements are, and how a thread reads and writes its packs.
#pragma once

#include "chapters/15_strides_and_casts/divider.h"
#include "chapters/15_strides_and_casts/paths.h"
#include "chapters/15_strides_and_casts/types.h"

namespace strided {

template <int kArrays>
struct Types {
  Type of[kArrays];
};

// A piece, as a kernel reads it: `count` elements, the arrays' strides in
// bytes.
template <int kArrays>
struct Task {
  struct Offsets {
    uint32_t of[kArrays] = {};
  };
  char* data[kArrays];
  uint32_t whole, count;  // Elements in packs, and in all.
  int rank;
  bool crosses, packed[kArrays], turned[kArrays];
  Types<kArrays> type;
  uint32_t steps, step[kArrays], tiles[2];
  Divider size[kMostDims];
  Offsets stride[kMostDims];

  Task(const Piece& piece, const Types<kArrays>& types)
      : whole(packs_of(piece) * piece.width),
        count(piece.count()),
        rank(piece.dims.size()),
        crosses(piece.dims[0].size % piece.width != 0),
        type(types),
        steps(piece.steps) {
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
  // Where elements are: their index in each dimension, times the stride there.
  // What a dimension needs is loaded once for all of them.
  template <int kCount>
  __device__ void find(const uint32_t (&element)[kCount],
                       Offsets (&at)[kCount]) const {
    uint32_t i[kCount];
#pragma unroll
    for (int k = 0; k < kCount; ++k) i[k] = element[k];
#pragma unroll
    for (int d = 0; d < kUnrolled; ++d) {
      if (d + 1 == rank) return add(d, i, at);
      divide(d, i, at);
    }
#pragma unroll 1
    for (int d = kUnrolled; d + 1 < rank; ++d) divide(d, i, at);
    add(rank - 1, i, at);
  }
  __device__ Offsets place(uint32_t i) const {
    const uint32_t element[] = {i};
    Offsets at[1];
    find(element, at);
    return at[0];
  }

 private:
  static constexpr int kUnrolled = 3;  // Few arrays have more dimensions.

  template <int kCount>
  __device__ void add(int d, const uint32_t (&i)[kCount],
                      Offsets (&at)[kCount]) const {
#pragma unroll
    for (int k = 0; k < kCount; ++k)
#pragma unroll
      for (int a = 0; a < kArrays; ++a) at[k].of[a] += i[k] * stride[d].of[a];
  }
  // Goes on to the dimensions outside of d.
  template <int kCount>
  __device__ void divide(int d, uint32_t (&i)[kCount],
                         Offsets (&at)[kCount]) const {
    uint32_t rest[kCount];
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      const uint32_t outer = size[d].divide(i[k]);
      rest[k] = i[k] - outer * size[d].divisor;
      i[k] = outer;
    }
    add(d, rest, at);
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
// the block, as far as they are before `end`. The first one is. Instead of
// what is not, the first is read again, which is quicker than to ask.
template <int kArrays, int kWidth, int kAccesses>
struct Places {
  uint32_t first[kAccesses];
  typename Task<kArrays>::Offsets at[kAccesses];

  __device__ Places(const Task<kArrays>& task, uint32_t i, uint32_t end) {
#pragma unroll
    for (int k = 0; k < kAccesses; ++k) {
      const uint32_t next = i + k * kBlock * kWidth;
      first[k] = next < end ? next : i;
    }
    task.find(first, at);
  }
  __device__ bool has(int k) const { return k == 0 || first[k] != first[0]; }
};

// All accesses are under way before the first element is needed.
template <class T, class A, int kArrays, int kWidth, int kAccesses>
__device__ void read_packs(const char* data, int array,
                           const Places<kArrays, kWidth, kAccesses>& places,
                           Held<A, kWidth, kAccesses>& v) {
  Pack<T, kWidth> packs[kAccesses];
#pragma unroll
  for (int k = 0; k < kAccesses; ++k)
    packs[k] = *reinterpret_cast<const Pack<T, kWidth>*>(
        data + places.at[k].of[array]);
#pragma unroll
  for (int k = 0; k < kAccesses; ++k) {
#pragma unroll
    for (int e = 0; e < kWidth; ++e) v[k][e] = cast<A>(packs[k].get(e));
  }
}

// A pack may go on in the next row, or in the one after that. All loads are
// under way at once here, too: so where they go is found before.
template <class T, class A, int kArrays, int kWidth, int kAccesses>
__device__ void read_singles(const Task<kArrays>& task, const char* data,
                             int array,
                             const Places<kArrays, kWidth, kAccesses>& places,
                             Held<A, kWidth, kAccesses>& v) {
  uint32_t at[kAccesses][kWidth];
#pragma unroll
  for (int k = 0; k < kAccesses; ++k)
#pragma unroll
    for (int e = 0; e < kWidth; ++e)
      at[k][e] = places.at[k].of[array] + e * task.stride[0].of[array];
  if (task.crosses) {
#pragma unroll
    for (int k = 0; k < kAccesses; ++k) {
      uint32_t element[kWidth];
      typename Task<kArrays>::Offsets found[kWidth];
#pragma unroll
      for (int e = 0; e < kWidth; ++e) element[e] = places.first[k] + e;
      task.find(element, found);
#pragma unroll
      for (int e = 0; e < kWidth; ++e) at[k][e] = found[e].of[array];
    }
  }
  Pack<T, 1> singles[kAccesses][kWidth];
#pragma unroll
  for (int k = 0; k < kAccesses; ++k)
#pragma unroll
    for (int e = 0; e < kWidth; ++e)
      singles[k][e] = *reinterpret_cast<const Pack<T, 1>*>(data + at[k][e]);
#pragma unroll
  for (int k = 0; k < kAccesses; ++k)
#pragma unroll
    for (int e = 0; e < kWidth; ++e) v[k][e] = cast<A>(singles[k][e].get(0));
}

// What type the elements have in memory is asked once for all of them.
template <class Casts, class A, int kArrays, int kWidth, int kAccesses>
__device__ void read(const Task<kArrays>& task, int array, uint32_t row,
                     const Places<kArrays, kWidth, kAccesses>& places,
                     Held<A, kWidth, kAccesses>& v) {
  const char* const data = task.data[array] + row * task.step[array];
  as_stored<A>(Casts{}, task.type.of[array], [&](auto tag) {
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
  as_stored<R>(Casts{}, task.type.of[array], [&](auto tag) {
    using T = typename decltype(tag)::Element;
#pragma unroll
    for (int k = 0; k < kAccesses; ++k) {
      if (!places.has(k)) continue;
      Pack<T, kWidth> pack;
#pragma unroll
      for (int e = 0; e < kWidth; ++e) pack.set(e, cast<T>(v[k][e]));
      *reinterpret_cast<Pack<T, kWidth>*>(data + places.at[k].of[array]) = pack;
    }
  });
}

}  // namespace strided
