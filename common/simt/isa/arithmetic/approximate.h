// Functions of floats as a GPU approximates them: what its units are asked, and
// what becomes of their answers.
#pragma once
#include <limits>

#include "common/simt/isa/arithmetic/interpolation.h"

namespace simt {

// A function is its unit, what the unit is asked (1 where it is not asked) and
// what its answer means. Else the value is exact.
inline bool is_positive(float x) {
  return (x > 0) & (x <= std::numeric_limits<float>::max());
}

struct ReciprocalRoot {
  using Unit = RootReciprocalUnit;
  static float asked(float x) { return is_positive(x) ? x : 1; }
  static float answer(float x, float found) {
    const float other = 1 / std::sqrt(x);
    return is_positive(x) ? found : other;
  }
};

struct Reciprocal {
  using Unit = ReciprocalUnit;
  static float asked(float x) {
    return is_positive(std::fabs(x)) ? std::fabs(x) : 1;
  }
  static float answer(float x, float found) {
    const float other = 1 / x, part = std::copysign(found, x);
    return is_positive(std::fabs(x)) ? part : other;
  }
};

struct SquareRoot {
  using Unit = RootUnit;
  static float asked(float x) { return is_positive(x) ? x : 1; }
  static float answer(float x, float found) {
    const float other = std::sqrt(x);
    return is_positive(x) ? found : other;
  }
};

// A subnormal number is scaled before, and its logarithm behind.
struct Logarithm {
  using Unit = LogarithmUnit;
  static bool is_scaled(float x) { return x < 0x1p-126f; }
  static float asked(float x) {
    const float scaled = is_scaled(x) ? x * 0x1p24f : x;
    return is_positive(x) ? scaled : 1;
  }
  static float answer(float x, float found) {
    const float other = x == 0 ? -INFINITY : x > 0 ? x : x != x ? x : NAN;
    return is_positive(x) ? found - (is_scaled(x) ? 24 : 0) : other;
  }
};

// A power that is subnormal is the square of its root.
template <bool kFlushes>
struct PowerOfTwo {
  using Unit = PowerUnit;
  static constexpr float kFar = 200;
  static bool is_square(float x) { return !kFlushes && x < -126; }
  static float asked(float x) {
    return !(std::fabs(x) < kFar) ? 1 : is_square(x) ? x / 2 : x;
  }
  static float answer(float x, float found) {
    const float infinite = x > 0 ? INFINITY : 0, other = x != x ? x : infinite;
    const float power = is_square(x) ? found * found : found;
    return std::fabs(x) < kFar ? power : other;
  }
};

// A GPU makes turns of radians first, in a float that is rounded towards zero.
template <int kQuarters>
struct Sine {
  using Unit = SineUnit<kQuarters>;
  static constexpr float kMost = std::numeric_limits<float>::max();
  static float asked(float x) {
    const double exact = std::fabs(x) * double(0.15915494309f);
    const auto turns = static_cast<float>(exact);
    const int32_t above = turns > exact;
    const auto cut =
        std::bit_cast<float>(std::bit_cast<int32_t>(turns) - above);
    return std::fabs(x) <= kMost ? cut : 1;
  }
  static float answer(float x, float found) {
    const float other = x - x;  // NaN
    const float sine = kQuarters == 0 && std::signbit(x) ? -found : found;
    return std::fabs(x) <= kMost ? sine : other;
  }
};

// A small number is its own tangent, and a large one's is 1.
struct Tangent {
  using Unit = TangentUnit;
  static constexpr float kSmall = 0x1p-8f, kLarge = 8;
  static float asked(float x) {
    const float size = std::fabs(x);
    return (size >= kSmall) & (size < kLarge) ? size : 1;
  }
  static float answer(float x, float found) {
    const float size = std::fabs(x), large = size >= kLarge ? 1 : found;
    return size >= kSmall ? std::copysign(large, x) : x;
  }
};

template <class Op, int kCount>
void approximate_all(const float* x, float* result) {
  float asked[kCount], found[kCount];
  for (int k = 0; k < kCount; ++k) asked[k] = Op::asked(x[k]);
  interpolate_all<typename Op::Unit, kCount>(asked, found);
  for (int k = 0; k < kCount; ++k) result[k] = Op::answer(x[k], found[k]);
}

}  // namespace simt
