// Chapter 12: a plan as the kernel wants it, where the i-th element of some
// dimensions lies, what a load brings and what is written.
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
  struct {
    Divider<Index> size;
    Index stride, out_stride;
  } dim[kMostDims];  // What is needed together comes from memory together.

  explicit Offsets(const Dims& dims) : rank(dims.rank) {
    for (int d = 0; d < rank; ++d) {
      const Dim& one = dims.dim[d];
      dim[d] = {Divider<Index>(std::max<int64_t>(one.size, 1)),
                static_cast<Index>(one.stride),
                static_cast<Index>(one.out_stride)};
    }
  }
  struct Offset {
    Index x = 0, out = 0;
  };
  __device__ Offset at(Index i) const {
    if (rank == 1) return {i * dim[0].stride, i * dim[0].out_stride};
    Offset sum;
    int d = 0;
#pragma unroll 1
    for (; d + 1 < rank; ++d) {
      const Index next = dim[d].size.divide(i);
      const Index rest = i - next * dim[d].size.divisor;
      sum.x += rest * dim[d].stride;
      sum.out += rest * dim[d].out_stride;
      i = next;
    }
    return {sum.x + i * dim[d].stride, sum.out + i * dim[d].out_stride};
  }
};

// A plan as the kernel wants it. Parameters come from memory line by line: what
// every thread needs lies side by side, at the beginning.
template <class Index>
struct Task {
  Index results, n;
  int members, teams, apart;
  bool straight;  // Whether one dimension is reduced,
  Index stride;   // and how far apart its elements are.
  Offsets<Index> kept, reduced;

  explicit Task(const Plan& plan)
      : results(static_cast<Index>(plan.kept.count)),
        n(static_cast<Index>(plan.n)),
        members(plan.members),
        teams(plan.teams),
        apart(plan.apart),
        straight(plan.reduced.rank == 1),
        stride(static_cast<Index>(plan.reduced.dim[0].stride)),
        kept(plan.kept),
        reduced(plan.reduced) {}
};

// The largest power of two, up to 16, that divides the size of what lies side
// by side.
constexpr size_t alignment_of(size_t bytes) {
  return std::min<size_t>(16, bytes & -bytes);
}
template <class T, int kSize>
struct alignas(alignment_of(sizeof(T) * kSize)) Pack {
  T v[kSize];
};

// What a block leaves for the last one, of results side by side. Of so many
// blocks that one asks at once; where rows are shared, it has few to ask.
template <class Acc, int kSize>
struct Part : Pack<Acc, kSize> {
  static constexpr int kAtOnce =
      kSize == 1 ? 1 : std::clamp<int>(128 / sizeof(Pack<Acc, kSize>), 1, 8);
};

// Words until an element is wanted: small ones would take a register each.
template <class T, int kSize>
struct Load {
  using Word = std::conditional_t<sizeof(T) * kSize % 4 == 0, unsigned, T>;
  Pack<Word, sizeof(T) * kSize / sizeof(Word)> words;

  __device__ T operator[](int e) const {
    T element;
    std::memcpy(&element, reinterpret_cast<const T*>(words.v) + e, sizeof(T));
    return element;
  }
};

// Whether the operation takes several elements of a result at once.
template <class Op, int kMany>
concept takes_several = requires(Op op, typename Op::Acc acc,
                                 const typename Op::In (&several)[kMany]) {
  op.reduce(acc, several);
};

// A thread has an accumulator for each of its results, or several for the only
// one, unless packs are taken whole.
template <class Op, int kAlong, int kAcross>
constexpr int kChains = kAcross > 1                               ? kAcross
                        : kAlong > 1 && takes_several<Op, kAlong> ? 1
                                                                  : kAccs;

// How many loads a thread has under way, alone or in a team: there twice as
// many of the widest, if its accumulators leave registers for them.
template <class Op, int kAlong, int kAcross>
constexpr int kAlone = in_flight(sizeof(typename Op::In) * kAlong * kAcross);
template <class Op, int kAlong, int kAcross>
constexpr bool kHasRoom =
    sizeof(typename Op::In) * (kAlong * kAcross) == 16 &&
    sizeof(typename Op::Acc) * kChains<Op, kAlong, kAcross> <= 16;
template <class Op, int kAlong, int kAcross>
constexpr int kInTeam =
    (kHasRoom<Op, kAlong, kAcross> ? 2 : 1) * kAlone<Op, kAlong, kAcross>;

// Writes results that lie side by side.
template <int kAcross, class Op, class Index>
__device__ void write(const Op& op, const typename Op::Acc* acc, Index n,
                      typename Op::Out* out) {
  Pack<typename Op::Out, kAcross> pack;
  for (int v = 0; v < kAcross; ++v) pack.v[v] = op.project(acc[v], n);
  *reinterpret_cast<decltype(pack)*>(out) = pack;
}

}  // namespace reduction
