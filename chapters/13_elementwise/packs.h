// Packs, which one access moves, and pairs, which one instruction computes
// with: whether a functor takes them.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <concepts>
#include <cstring>
#include <type_traits>

namespace elementwise {

// ---- Packs ------------------------------------------------------------------

// alignas lets the compiler move the elements in one access, and it does so for
// words: a type with a constructor of its own would be copied by itself.
template <class T, int kWidth>
struct alignas(kWidth == 1 ? alignof(T) : kWidth * sizeof(T)) Pack {
  static constexpr int kBytes = kWidth * sizeof(T);
  using Word = std::conditional_t<kWidth == 1 || kBytes % 4 != 0, T, unsigned>;
  Word words[kBytes / sizeof(Word)];

  __device__ T operator[](int e) const {
    T element;
    std::memcpy(&element, reinterpret_cast<const T*>(words) + e, sizeof(T));
    return element;
  }
  __device__ void set(int e, const T& element) {
    std::memcpy(reinterpret_cast<T*>(words) + e, &element, sizeof(T));
  }
};

// A pack's bytes that lie in two neighbouring ones, from byte `shift` of the
// first: by whole words, and then within them.
template <class P>
__device__ P shifted(const P& low, const P& high, unsigned shift) {
  constexpr int kWords = sizeof(P) / 4;
  unsigned words[2 * kWords];
  std::memcpy(words, &low, sizeof(P));
  std::memcpy(words + kWords, &high, sizeof(P));
#pragma unroll
  for (int by = kWords / 2; by > 0; by /= 2)
#pragma unroll
    for (int w = 0; w < kWords + by; ++w)
      if (shift & 4 * by) words[w] = words[w + by];
#pragma unroll
  for (int w = 0; w < kWords; ++w)
    words[w] = __funnelshift_r(words[w], words[w + 1], 8 * (shift % 4));
  P pack;
  std::memcpy(&pack, words, sizeof(P));
  return pack;
}

// ---- Pairs ------------------------------------------------------------------

template <class T>
struct PairOf;
template <>
struct PairOf<float> {
  using Type = float2;
};
template <>
struct PairOf<__half> {
  using Type = __half2;
};
template <>
struct PairOf<__nv_bfloat16> {
  using Type = __nv_bfloat162;
};
template <class T>
using Pair = typename PairOf<T>::Type;

// &F::Apply2 has a type if exactly one function has that name. If any has, the
// name is ambiguous in a class that inherits another one.
struct Named {
  int Apply2;
};
template <class F>
struct Both : F, Named {};
template <class F>
constexpr bool kNamesNone = requires {
  &Both<F>::Apply2;
};
template <class F>
constexpr bool kNamesOne = requires {
  &F::Apply2;
};
template <class R, class F, class... A>
constexpr bool kTakesPairs = requires(const F f, Pair<A>... x) {
  { f.Apply2(x...) } -> std::same_as<Pair<R>>;
};

// Whether f takes pairs. An Apply2 that cannot be used is an error: without a
// word, the slow way would be taken.
template <class R, class F, class... A>
constexpr bool takes_pairs() {
  static_assert(std::is_class_v<F> && !std::is_final_v<F>,
                "elementwise: a functor is a class that is not final");
  constexpr bool kHas = !kNamesNone<F>;
  static_assert(!kHas || kNamesOne<F>,
                "elementwise: Apply2 is overloaded or a template, so nobody "
                "can tell which one is meant");
  static_assert(!kHas || !kNamesOne<F> || kTakesPairs<R, F, A...>,
                "elementwise: Apply2 does not turn a pair of each operand into "
                "a pair of results");
  return kHas;
}

}  // namespace elementwise
