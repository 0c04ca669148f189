// Chapter 15: what a thread does with its packs, or in its tile.
#pragma once

#include <utility>

#include "chapters/15_strides_and_casts/functor.h"
#include "chapters/15_strides_and_casts/stretches.h"
#include "chapters/15_strides_and_casts/tiles.h"

namespace strided {

template <class F, class Results, class Arguments, class Outs, class Ins>
struct Body;
template <class F, class... R, class... A, size_t... kOut, size_t... kIn>
struct Body<F, Several<R...>, Several<A...>, std::index_sequence<kOut...>,
            std::index_sequence<kIn...>> {
  static constexpr int kOuts = sizeof...(R), kArrays = kOuts + sizeof...(A);
  static constexpr int kBytes = std::max({sizeof(R)..., sizeof(A)...});
  static constexpr int kShared = std::max({sizeof(Rows<A>)...});
  static_assert(kArrays <= kMostArrays, "There are at most 8 arrays.");

  template <class Casts, int kWidth>
  static constexpr int kAccesses = accesses_of(kWidth, kBytes, kIsCast<Casts>);

  // Whether an array of this type would have to be cast.
  template <class C>
  static constexpr bool kMayCast =
      !(std::is_same_v<R, C> && ...) || !(std::is_same_v<A, C> && ...);

  static Kind kind() { return {kOuts, {kTypeOf<R>..., kTypeOf<A>...}}; }

  template <int kWidth, int kAtOnce>
  using HeldIn = Several<Held<A, kWidth, kAtOnce>...>;
  template <int kWidth, int kAtOnce>
  using HeldOut = Several<Held<R, kWidth, kAtOnce>...>;

  template <int kWidth, int kAtOnce>
  static __device__ void compute(const F& f, const HeldIn<kWidth, kAtOnce>& in,
                                 HeldOut<kWidth, kAtOnce>& out) {
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) {
#pragma unroll
      for (int e = 0; e < kWidth; ++e) {
        const Several<R...> results = several(f(get<kIn>(in)[k][e]...));
        ((get<kOut>(out)[k][e] = get<kOut>(results)), ...);
      }
    }
  }

  // Packs that begin at `first` and further on. What rows share is read once.
  template <class Casts, int kWidth, int kAtOnce>
  static __device__ void packs(const F& f, const Task<kArrays>& task,
                               uint32_t first, uint32_t end) {
    if (first >= end) return;
    const Places<kArrays, kWidth, kAtOnce> places(task, first, end);
    HeldIn<kWidth, kAtOnce> in;
    HeldOut<kWidth, kAtOnce> out;
    for (uint32_t row = 0; row < task.steps; ++row) {
      const auto is_new = [&](int a) { return row == 0 || task.step[a] != 0; };
      ((is_new(kOuts + kIn)
            ? read<Casts>(task, kOuts + kIn, row, places, get<kIn>(in))
            : void()),
       ...);
      compute<kWidth, kAtOnce>(f, in, out);
      (write<Casts>(task, kOut, row, places, get<kOut>(out)), ...);
    }
  }

  template <class Casts, int kWidth, int kAtOnce, bool kShifted = false>
  static __device__ void packs(const F& f, const Stretches<kArrays>& task,
                               uint32_t first, uint32_t end) {
    if (first >= end) return;
    HeldIn<kWidth, kAtOnce> in;
    HeldOut<kWidth, kAtOnce> out;
    (read<Casts, kShifted>(task, kOuts + kIn, first, end, get<kIn>(in)), ...);
    compute<kWidth, kAtOnce>(f, in, out);
    (write<Casts>(task, kOut, first, end, get<kOut>(out)), ...);
  }

  template <class Casts>
  static __device__ void tile(const F& f, const Task<kArrays>& task) {
    __shared__ alignas(16) char shared[kShared];
    const Tile<kArrays> tile(task);
    const Column column = tile.column(task, 0, false);
    Several<InTile<A>...> in;
    Several<InTile<R>...> out;
    (read<Casts>(task, kOuts + kIn, tile, *reinterpret_cast<Rows<A>*>(shared),
                 get<kIn>(in)),
     ...);
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      if (!column.has(tile.line, k)) continue;
      const Several<R...> results = several(f(get<kIn>(in)[k]...));
      ((get<kOut>(out)[k] = get<kOut>(results)), ...);
    }
    (write<Casts>(task, kOut, tile, get<kOut>(out)), ...);
  }
};
template <class F, class S = Signature<F>>
using BodyOf =
    Body<F, typename S::Results, typename S::Arguments,
         typename S::Results::Indices, typename S::Arguments::Indices>;

}  // namespace strided
