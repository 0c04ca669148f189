// An elementwise engine: r[i] = f(a[i], b[i], ...) for any f, of any types.
//
//   elementwise::unary(f, n, r, a, stream);            also binary and ternary
//   elementwise::unary_with_factory(make, n, r, a, stream);      and the others
//
// f is a functor: `R operator()(A, ...) const`, for the device. It may have an
// Apply2, too, which takes a pair of each operand and returns a pair. Where a
// factory makes f, every thread calls it, so f may hold what only the GPU knows
// by then. Where f returns a Two, r is a Two of pointers.
//
// r may be one of the operands, if its elements have as many bytes; otherwise
// arrays do not overlap. The work is queued on the stream; nothing waits. Each
// function returns a sentence that says what is wrong, or nullptr.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <type_traits>

#include "chapters/13_elementwise/packs.h"
#include "chapters/13_elementwise/path.h"

namespace elementwise {

// ---- One result, or two -----------------------------------------------------

// Two results of a functor, or the arrays that they go to.
template <class R, class S>
struct Two {
  R first;
  S second;

  __device__ Two operator+(int64_t i) const { return {first + i, second + i}; }
};
template <class R, class S>
Two(R, S) -> Two<R, S>;

template <class T>
Place place_of(const T* p) {
  return {reinterpret_cast<uintptr_t>(p), sizeof(T), alignof(T)};
}

template <class Out>
struct Results;
template <class R>
struct Results<R*> {
  using Element = R;
  template <int kWidth>
  using Packs = Pack<R, kWidth>;
  template <class... A>
  static constexpr int kPack = kPackSize<R, A...>;

  static auto places(R* r) { return std::array{place_of(r)}; }
};
template <class R, class S>
struct Results<Two<R*, S*>> {
  using Element = Two<R, S>;
  template <int kWidth>
  using Packs = Two<Pack<R, kWidth>, Pack<S, kWidth>>;
  template <class... A>
  static constexpr int kPack = kPackSize<R, S, A...>;

  static auto places(Two<R*, S*> r) {
    return std::array{place_of(r.first), place_of(r.second)};
  }
};

// ---- The kernel -------------------------------------------------------------

// One result goes to one array, and two go to two.
template <class R, int kWidth>
__device__ void set(Pack<R, kWidth>& pack, int e, const R& y) {
  pack.set(e, y);
}
template <class R, class S, int kWidth>
__device__ void set(Two<Pack<R, kWidth>, Pack<S, kWidth>>& packs, int e,
                    const Two<R, S>& y) {
  set(packs.first, e, y.first);
  set(packs.second, e, y.second);
}

// Counted in packs: from r + i the compiler would not see that r[i] is aligned.
template <class R, int kWidth>
__device__ void put(R* r, int64_t i, const Pack<R, kWidth>& pack) {
  reinterpret_cast<Pack<R, kWidth>*>(r)[i] = pack;
}
template <class R, class S, int kWidth>
__device__ void put(Two<R*, S*> r, int64_t i,
                    const Two<Pack<R, kWidth>, Pack<S, kWidth>>& packs) {
  put(r.first, i, packs.first);
  put(r.second, i, packs.second);
}

// A thread's packs of one array. They lie a block apart, so that neighbouring
// threads have neighbouring packs.
template <class T, int kWidth, int kPacks, bool kShifted>
struct Share {
  using Packed = Pack<T, kWidth>;
  Packed pack[kPacks];

  __device__ Share(const T* x, int64_t first, int64_t packs) {
    const unsigned shift =
        kShifted ? reinterpret_cast<uintptr_t>(x) % sizeof(Packed) : 0;
    const auto* const from = reinterpret_cast<const Packed*>(
        reinterpret_cast<const char*>(x) - shift);
    const int after = shift != 0;  // Else the next may be a result by now.
    Packed next[kPacks];
    for (int k = 0; k < kPacks; ++k) {
      if (first + k * kBlock >= packs) continue;
      pack[k] = from[first + k * kBlock];
      if constexpr (kShifted) next[k] = from[first + k * kBlock + after];
    }
    if constexpr (kShifted)
      for (int k = 0; k < kPacks; ++k)
        pack[k] = shifted(pack[k], next[k], shift);
  }
};

// Pack i of the results, of a pack of each operand.
template <bool kPairs, class F, class Out, int kWidth, class... A>
__device__ void apply(const F& f, Out r, int64_t i,
                      const Pack<A, kWidth>&... x) {
  using Element = typename Results<Out>::Element;
  typename Results<Out>::template Packs<kWidth> y;
  if constexpr (kPairs && kWidth > 1) {
    for (int e = 0; e < kWidth; e += 2) {
      const auto pair = f.Apply2(Pair<A>{x[e], x[e + 1]}...);
      set(y, e, pair.x);
      set(y, e + 1, pair.y);
    }
  } else {
    for (int e = 0; e < kWidth; ++e) set(y, e, Element(f(x[e]...)));
  }
  put(r, i, y);
}

// All loads are under way before the first one is needed: they are arguments.
template <bool kPairs, int kPacks, class F, class Out, class... Shares>
__device__ void apply_to_share(const F& f, Out r, const Path& path,
                               int64_t first, const Shares&... x) {
  for (int k = 0; k < kPacks; ++k) {
    const int64_t at = first + k * kBlock;
    if (at < path.packs) apply<kPairs>(f, r + path.head, at, x.pack[k]...);
  }
}

template <int kWidth, int kPacks, bool kShifted, bool kPairs, class Factory,
          class Out, class... A>
__global__ void __launch_bounds__(kBlock)
    elementwise_kernel(const Factory make, const Path path, int64_t n, Out r,
                       const A*... a) {
  const auto f = make();
  const int64_t begin = int64_t{blockIdx.x} * kBlock * kPacks;
  const int64_t first = begin + threadIdx.x;
  if (begin < path.packs)
    return apply_to_share<kPairs, kPacks>(
        f, r, path, first,
        Share<A, kWidth, kPacks, kShifted>(a + path.head, first,
                                           path.packs)...);

  // In the last block a thread has an element before the packs or after.
  const int64_t packed = path.packs * kWidth, thread = threadIdx.x;
  if (thread >= n - packed) return;
  const int64_t i = thread < path.head ? thread : thread + packed;
  apply<false>(f, r, i, Pack<A, 1>{a[i]}...);
}

// ---- The calls --------------------------------------------------------------

// The path that a call with these arrays takes.
template <class Out, class... A>
Path path_of(int64_t n, Out r, const A*... a) {
  constexpr int kPack = Results<Out>::template kPack<A...>;
  return make_path(kPack, share_of<A...>(kPack), n, Results<Out>::places(r),
                   std::array{place_of(a)...});
}

template <int kWidth, class Factory, class Out, class... A>
void launch(const Factory& make, const Path& path, int64_t n, Out r,
            cudaStream_t stream, const A*... a) {
  if constexpr (kWidth > 1)
    if (path.width < kWidth)
      return launch<kWidth / 2>(make, path, n, r, stream, a...);
  using F = std::remove_cvref_t<decltype(make())>;
  constexpr bool kPairs =
      takes_pairs<typename Results<Out>::Element, F, A...>();
  constexpr int kPack = Results<Out>::template kPack<A...>;
  constexpr int kPacks = share_of<A...>(kPack) / kWidth;
  const auto start = [&](auto shifted) {
    elementwise_kernel<kWidth, kPacks, decltype(shifted)::value, kPairs>
        <<<path.blocks, kBlock, 0, stream>>>(make, path, n, r, a...);
  };
  constexpr bool kWords = (... && (kWidth * sizeof(A) % kWord == 0));
  if constexpr (kWidth > 1 && kWidth == kPack && kWords)
    if (path.shifted) return start(std::true_type{});
  start(std::false_type{});
}

template <class Factory, class Out, class... A>
Error run(const Factory& make, int64_t n, Out r, cudaStream_t stream,
          const A*... a) {
  const std::array operands{place_of(a)...};
  if (const Error error = trouble(n, Results<Out>::places(r), operands))
    return error;
  if (n == 0) return nullptr;  // A grid of no blocks is a launch error.
  launch<Results<Out>::template kPack<A...>>(make, path_of(n, r, a...), n, r,
                                             stream, a...);
  const cudaError_t error = cudaGetLastError();
  return error ? cudaGetErrorString(error) : nullptr;
}

// The factory of a functor that the host has made.
template <class F>
struct Same {
  F f;
  __device__ F operator()() const { return f; }
};

template <class Factory, class Out, class A>
Error unary_with_factory(const Factory& make, int64_t n, Out r, const A* a,
                         cudaStream_t stream) {
  return run(make, n, r, stream, a);
}
template <class Factory, class Out, class A, class B>
Error binary_with_factory(const Factory& make, int64_t n, Out r, const A* a,
                          const B* b, cudaStream_t stream) {
  return run(make, n, r, stream, a, b);
}
template <class Factory, class Out, class A, class B, class C>
Error ternary_with_factory(const Factory& make, int64_t n, Out r, const A* a,
                           const B* b, const C* c, cudaStream_t stream) {
  return run(make, n, r, stream, a, b, c);
}
template <class F, class Out, class A>
Error unary(const F& f, int64_t n, Out r, const A* a, cudaStream_t stream) {
  return run(Same<F>{f}, n, r, stream, a);
}
template <class F, class Out, class A, class B>
Error binary(const F& f, int64_t n, Out r, const A* a, const B* b,
             cudaStream_t stream) {
  return run(Same<F>{f}, n, r, stream, a, b);
}
template <class F, class Out, class A, class B, class C>
Error ternary(const F& f, int64_t n, Out r, const A* a, const B* b, const C* c,
              cudaStream_t stream) {
  return run(Same<F>{f}, n, r, stream, a, b, c);
}

}  // namespace elementwise
