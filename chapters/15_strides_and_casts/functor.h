// Chapter 15: what the engine has to know of a functor: its types.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "chapters/15_strides_and_casts/types.h"

namespace strided {

// Values of several types. As a functor's result, it fills several outputs.
template <size_t kIndex, class T>
struct Slot {
  T value;
};
template <class Indices, class... T>
struct Slots;
template <size_t... kIndex, class... T>
struct Slots<std::index_sequence<kIndex...>, T...> : Slot<kIndex, T>... {};
template <class... T>
struct Several : Slots<std::index_sequence_for<T...>, T...> {
  using Indices = std::index_sequence_for<T...>;
};

template <size_t kIndex, class T>
__device__ T& get(Slot<kIndex, T>& slot) {
  return slot.value;
}
template <size_t kIndex, class T>
__device__ const T& get(const Slot<kIndex, T>& slot) {
  return slot.value;
}

template <class R>
__device__ Several<R> several(const R& result) {
  return {{{result}}};
}
template <class... R>
__device__ const Several<R...>& several(const Several<R...>& results) {
  return results;
}

template <class R>
struct Outputs {
  using Types = Several<R>;
};
template <class... R>
struct Outputs<Several<R...>> {
  using Types = Several<R...>;
};

// The types of a functor's call operator, of which there is one.
template <class Call>
struct OfCall;
template <class F, class R, class... A>
struct OfCall<R (F::*)(A...) const> {
  using Results = typename Outputs<R>::Types;
  using Arguments = Several<A...>;
};

template <class F>
struct Signature {
  static_assert(
      requires { &F::operator(); },
      "A functor has one operator(), neither overloaded nor a template.");
  using Call = OfCall<decltype(&F::operator())>;
  using Results = typename Call::Results;
  using Arguments = typename Call::Arguments;
};

// f(x, scalar), with a scalar of the host: it stays as exact as what f computes
// in, however narrow x is.
template <class F, class T>
struct WithScalar {
  F f;
  Wide<T> scalar;
  __device__ T operator()(T x) const {
    return cast<T>(f.wide(cast<Wide<T>>(x), scalar));
  }
};

}  // namespace strided
