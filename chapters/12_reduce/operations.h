// Chapter 12: operations for the reduction engine of reduce.h.
//
// T is what is read and R what is written; in between, halves are floats, whole
// numbers have 64 bits, and a fraction of these is a double.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace reduction {

template <class T>
using Wide = std::conditional_t<
    std::is_integral_v<T>, int64_t,
    std::conditional_t<std::is_same_v<T, double>, double, float>>;
template <class T>
using Real = std::conditional_t<std::is_integral_v<T>, double, Wide<T>>;

template <class T, class A, class R>
struct Operation {
  using In = T;
  using Acc = A;
  using Out = R;
  static constexpr bool kIndexed = false, kNeedsOne = false;
};

// ---- Sums and products ------------------------------------------------------

template <class T, class R = Wide<T>, class A = Wide<T>>
struct Sum : Operation<T, A, R> {
  __device__ A identity() const { return 0; }
  __device__ A reduce(A sum, T value, int64_t) const {
    return sum + static_cast<A>(value);
  }
  // One instruction adds four bytes to an int.
  template <int kMany>
  __device__ A reduce(A sum, const T (&several)[kMany])
      const requires std::is_same_v<T, int8_t> {
    int words[kMany / 4], part = 0;
    std::memcpy(words, several, sizeof words);
    for (const int four : words) part = __dp4a(four, 0x01010101, part);
    return sum + part;
  }
  __device__ A combine(A a, A b) const { return a + b; }
  __device__ R project(A sum, int64_t) const { return static_cast<R>(sum); }
};

template <class T, class R = Wide<T>>
struct Product : Operation<T, Wide<T>, R> {
  using A = Wide<T>;
  __device__ A identity() const { return 1; }
  __device__ A reduce(A product, T value, int64_t) const {
    return product * static_cast<A>(value);
  }
  __device__ A combine(A a, A b) const { return a * b; }
  __device__ R project(A product, int64_t) const {
    return static_cast<R>(product);
  }
};

// Of no elements it is NaN.
template <class T, class R = Real<T>>
struct Mean : Sum<T, R> {
  __device__ R project(Wide<T> sum, int64_t n) const {
    return static_cast<R>(static_cast<Real<T>>(sum) / static_cast<Real<T>>(n));
  }
};

// ---- The least and the greatest ---------------------------------------------

struct Least {
  template <class A>
  static constexpr A kWorst = std::numeric_limits<A>::has_infinity
                                  ? std::numeric_limits<A>::infinity()
                                  : std::numeric_limits<A>::max();
  template <class A>
  static __device__ bool better(A a, A b) {
    return a < b;
  }
};
struct Greatest {
  template <class A>
  static constexpr A kWorst = std::numeric_limits<A>::has_infinity
                                  ? -std::numeric_limits<A>::infinity()
                                  : std::numeric_limits<A>::lowest();
  template <class A>
  static __device__ bool better(A a, A b) {
    return a > b;
  }
};

// A NaN wins.
template <class T, class Order, class R = T>
struct Extreme : Operation<T, Wide<T>, R> {
  using A = Wide<T>;
  static constexpr bool kNeedsOne = true;
  __device__ A identity() const { return Order::template kWorst<A>; }
  __device__ A reduce(A best, T value, int64_t) const {
    return combine(best, static_cast<A>(value));
  }
  __device__ A combine(A a, A b) const {
    return b != b || Order::better(b, a) ? b : a;
  }
  __device__ R project(A best, int64_t) const { return static_cast<R>(best); }
};
template <class T>
using Min = Extreme<T, Least>;
template <class T>
using Max = Extreme<T, Greatest>;

template <class A>
struct Indexed {
  A value;
  int64_t index;
};

// Where the best element is, counted over all reduced dimensions in their
// order. Of equal ones, and of several NaNs, it is the first.
template <class T, class Order>
struct ArgExtreme : Operation<T, Indexed<Wide<T>>, int64_t> {
  using A = Indexed<Wide<T>>;
  static constexpr bool kIndexed = true, kNeedsOne = true;
  __device__ A identity() const {
    return {Order::template kWorst<Wide<T>>, INT64_MAX};
  }
  // The next element has a higher index, so it has to be better.
  __device__ A reduce(A best, T next, int64_t index) const {
    const A one{static_cast<Wide<T>>(next), index};
    const bool stays =  // Not beside a NaN, of which both are false.
        Order::better(best.value, one.value) || best.value == one.value;
    return stays || best.value != best.value ? best : one;
  }
  __device__ A combine(A a, A b) const {
    const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
    const bool tie = a.value == b.value || (a_nan && b_nan);
    const bool b_wins =
        tie ? b.index < a.index : b_nan || Order::better(b.value, a.value);
    return b_wins ? b : a;
  }
  // If none is better than the worst, all are equal.
  __device__ int64_t project(A best, int64_t) const {
    return best.index == INT64_MAX ? 0 : best.index;
  }
};
template <class T>
using ArgMin = ArgExtreme<T, Least>;
template <class T>
using ArgMax = ArgExtreme<T, Greatest>;

// ---- Norms ------------------------------------------------------------------

// How many elements are not 0.
template <class T, class R = Real<T>>
struct Norm0 : Sum<T, R, Real<T>> {
  using A = Real<T>;
  __device__ A reduce(A sum, T value, int64_t) const {
    return sum + (static_cast<Wide<T>>(value) != 0 ? 1 : 0);
  }
};

template <class T, class R = Real<T>>
struct Norm1 : Sum<T, R, Real<T>> {
  using A = Real<T>;
  __device__ A reduce(A sum, T value, int64_t) const {
    return sum + fabs(static_cast<A>(value));
  }
};

// A square may overflow where the norm would not.
template <class T, class R = Real<T>>
struct Norm2 : Sum<T, R, Real<T>> {
  using A = Real<T>;
  __device__ A reduce(A sum, T value, int64_t) const {
    return sum + static_cast<A>(value) * static_cast<A>(value);
  }
  __device__ R project(A sum, int64_t) const {
    return static_cast<R>(sqrt(sum));
  }
};

template <class T, class R = Real<T>>
struct NormP : Sum<T, R, Real<T>> {
  using A = Real<T>;
  A p;
  explicit NormP(A power) : p(power) {}
  __device__ A reduce(A sum, T value, int64_t) const {
    return sum + pow(fabs(static_cast<A>(value)), p);
  }
  __device__ R project(A sum, int64_t) const {
    return static_cast<R>(pow(sum, 1 / p));
  }
};

// The greatest absolute value; 0 of no elements.
template <class T, class R = Real<T>>
struct NormInf : Operation<T, Real<T>, R> {
  using A = Real<T>;
  __device__ A identity() const { return 0; }
  __device__ A reduce(A most, T value, int64_t) const {
    return combine(most, fabs(static_cast<A>(value)));
  }
  __device__ A combine(A a, A b) const { return b != b || b > a ? b : a; }
  __device__ R project(A most, int64_t) const { return static_cast<R>(most); }
};

// ---- Truth ------------------------------------------------------------------

// Whether an element is not 0. A NaN counts as not 0.
template <class T>
struct Any : Operation<T, int, bool> {
  __device__ int identity() const { return 0; }
  __device__ int reduce(int any, T value, int64_t) const {
    return any | (static_cast<Wide<T>>(value) != 0);
  }
  __device__ int combine(int a, int b) const { return a | b; }
  __device__ bool project(int any, int64_t) const { return any; }
};

template <class T>
struct All : Operation<T, int, bool> {
  __device__ int identity() const { return 1; }
  __device__ int reduce(int all, T value, int64_t) const {
    return all & (static_cast<Wide<T>>(value) != 0);
  }
  __device__ int combine(int a, int b) const { return a & b; }
  __device__ bool project(int all, int64_t) const { return all; }
};

// ---- Variance, by Welford ---------------------------------------------------

// The mean so far, and the sum of the squares of what differs from it: numbers
// far from 0 lose nothing. A count in floats is exact up to 2^24 per thread.
template <class A>
struct Spread {
  A mean, squares, count;
};

// One instruction, a last bit off; a division takes nine.
__device__ inline float reciprocal(float count) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(count));
  return r;
}
__device__ inline double reciprocal(double count) { return 1 / count; }

template <class T, class R = Real<T>>
struct Var : Operation<T, Spread<Real<T>>, R> {
  using Number = Real<T>;
  using A = Spread<Number>;
  Number correction;  // 1 for a sample, 0 for all there is.
  explicit Var(Number correct) : correction(correct) {}
  __device__ A identity() const { return {0, 0, 0}; }
  __device__ A reduce(A s, T value, int64_t) const {
    const Number v = static_cast<Number>(value), away = v - s.mean;
    const Number count = s.count + 1;
    const Number mean = s.mean + away * reciprocal(count);
    return {mean, s.squares + away * (v - mean), count};
  }
  // Several halves have a mean of their own: one reciprocal does for all.
  template <int kMany>
  __device__ A reduce(A s, const T (&several)[kMany]) const
      requires(sizeof(T) == 2) {
    Number sum = 0, squares = 0;
    for (const T one : several) sum += static_cast<Number>(one);
    const Number mean = sum / kMany;
    for (const T one : several) {
      const Number away = static_cast<Number>(one) - mean;
      squares += away * away;
    }
    return combine(s, {mean, squares, kMany});
  }
  __device__ A combine(A a, A b) const {
    const Number count = a.count + b.count, away = b.mean - a.mean;
    const Number part = b.count * reciprocal(count);
    const A both{a.mean + away * part,
                 a.squares + b.squares + away * away * a.count * part, count};
    return a.count == 0 ? b : both;
  }
  __device__ Number variance(A s, int64_t n) const {
    return s.squares / fmax(n - correction, Number{0});
  }
  __device__ R project(A s, int64_t n) const {
    return static_cast<R>(variance(s, n));
  }
};

template <class T, class R = Real<T>>
struct Std : Var<T, R> {
  using Var<T, R>::Var;
  __device__ R project(Spread<Real<T>> s, int64_t n) const {
    return static_cast<R>(sqrt(this->variance(s, n)));
  }
};

}  // namespace reduction
