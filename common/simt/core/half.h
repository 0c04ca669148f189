// f16 and bf16, from and to float, without help from the host's hardware: the
// same bits on every machine, and plain integer code that becomes vectors.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

namespace simt {

// What a NaN becomes when an instruction computes one.
constexpr uint32_t kNaN32 = 0x7fffffff;
constexpr uint16_t kNaN16 = 0x7fff;

inline uint32_t bits_of(float x) { return std::bit_cast<uint32_t>(x); }
inline uint64_t bits_of(double x) { return std::bit_cast<uint64_t>(x); }
inline float float_of(uint32_t bits) { return std::bit_cast<float>(bits); }
inline double double_of(uint64_t bits) { return std::bit_cast<double>(bits); }

// Rounding twice, first to a wide format and then to a narrow one, can go
// wrong: the first may land on what looks like a tie to the second. Rounding
// to odd first cannot. It keeps exact values, and takes of the two neighbours
// of any other the one whose last bit is 1: with at least two bits more than
// the narrow format, that is never a tie or a representable value of it, and
// lies on the same side of both as the true value.

// The sum x of two numbers rounded to nearest, with the sign of what is
// missing in `error`: becomes the sum rounded to odd.
inline float to_odd(float x, float error) {
  const uint32_t bits = bits_of(x);
  const bool inexact = error > 0 || error < 0;  // not when it is NaN
  const bool outward = (error > 0) == (x > 0);
  const uint32_t odd = outward ? bits + 1 : bits - 1;
  return float_of(inexact && !(bits & 1) ? odd : bits);
}

inline double to_odd(double x, double error) {
  const uint64_t bits = bits_of(x);
  const bool inexact = error > 0 || error < 0;
  const bool outward = (error > 0) == (x > 0);
  const uint64_t odd = outward ? bits + 1 : bits - 1;
  return double_of(inexact && !(bits & 1) ? odd : bits);
}

// a * b + c rounded to odd, where a * b is exact in T and nothing overflows:
// Knuth's two-sum finds what the sum lost.
template <class T>
inline T multiply_add_to_odd(T a, T b, T c) {
  const T product = a * b;
  const T sum = product + c;
  const T c_part = sum - product;
  const T error = (product - (sum - c_part)) + (c - c_part);
  return to_odd(sum, error);
}

// A double as a float, rounded to odd. A float that underflowed to 0 or
// overflowed to infinity is even, and moves to its odd neighbour too.
inline float narrow_to_odd(double x) {
  const float nearest = static_cast<float>(x);
  const uint32_t bits = bits_of(nearest);
  const bool outward = std::fabs(x) > std::fabs(double{nearest});
  const uint32_t odd = outward ? bits + 1 : bits - 1;
  const bool inexact = double{nearest} < x || double{nearest} > x;
  return float_of(inexact && !(bits & 1) ? odd : bits);
}

struct Half {  // f16: 5 bits of exponent, 10 of mantissa
  using Stored = uint16_t;
  using Value = float;
  static constexpr int kMantissaBits = 10;
  static constexpr float kSmallestNormal = 0x1p-14f;
  static constexpr uint16_t kInfinity = 0x7c00;
  static constexpr uint16_t kOne = 0x3c00;

  static float widen(uint16_t h) {
    const uint32_t sign = uint32_t(h & 0x8000) << 16;
    const uint32_t rest = uint32_t(h & 0x7fff) << 13;
    // The exponent's bias changes from 15 to 127. A subnormal has no leading
    // 1: give it one, and subtract it again.
    const uint32_t normal = rest + (112u << 23);
    const uint32_t subnormal =
        bits_of(float_of(rest + (113u << 23)) - 0x1p-14f);
    const uint32_t special = rest + (224u << 23);  // infinity and NaN
    const uint32_t magnitude = rest < (1u << 23)    ? subnormal
                               : rest < (31u << 23) ? normal
                                                    : special;
    return float_of(sign | magnitude);
  }

  // Without the bits that a half does not have; large numbers stay so.
  static float cut(float x) {
    const float normal = float_of(bits_of(x) & ~0x1fffu);
    const float subnormal = std::trunc(x * 0x1p24f) * 0x1p-24f;
    return x != x ? x : std::fabs(x) < kSmallestNormal ? subnormal : normal;
  }

  // To nearest, ties to even.
  static uint16_t narrow(float x) {
    const uint32_t sign = bits_of(x) >> 16 & 0x8000;
    const uint32_t bits = bits_of(x) & 0x7fffffff;
    // Half of an ulp less one, and one more if the last bit kept is set.
    const uint32_t rounded = bits + 0xfff + (bits >> 13 & 1);
    const uint32_t normal = (rounded - (112u << 23)) >> 13;
    // Adding 0.5, whose ulp is the smallest half, rounds a subnormal.
    const uint32_t subnormal = bits_of(float_of(bits) + 0.5f) - (126u << 23);
    const uint32_t finite = bits < (113u << 23) ? subnormal : normal;
    const uint32_t magnitude = bits < 0x477ff000 ? finite : kInfinity;  // 65520
    return bits > (255u << 23) ? kNaN16 : magnitude | sign;
  }

  static float multiply_add(float a, float b, float c) {
    return multiply_add_to_odd(a, b, c);  // 22 bits of product fit in 24
  }
};

struct BFloat {  // bf16: the upper half of a float
  using Stored = uint16_t;
  using Value = float;
  static constexpr int kMantissaBits = 7;
  static constexpr float kSmallestNormal = 0x1p-126f;
  static constexpr uint16_t kInfinity = 0x7f80;
  static constexpr uint16_t kOne = 0x3f80;

  static float widen(uint16_t h) { return float_of(uint32_t{h} << 16); }

  static float cut(float x) {
    return x != x ? x : float_of(bits_of(x) & ~0xffffu);
  }

  static uint16_t narrow(float x) {
    const uint32_t bits = bits_of(x);
    const uint32_t rounded = bits + 0x7fff + (bits >> 16 & 1);
    return x != x ? kNaN16 : rounded >> 16;
  }

  // A product may leave the range of float, never that of double.
  static float multiply_add(float a, float b, float c) {
    return narrow_to_odd(multiply_add_to_odd<double>(a, b, c));
  }
};

// An 8-bit float with 4 bits of exponent, as a half. Exact, and subnormal
// numbers are normal then. One with 5 bits is the upper half of a half.
inline uint32_t half_of_e4m3(uint32_t bits) {
  const uint32_t magnitude = bits & 0x7f;
  const float value =
      magnitude < 8
          ? static_cast<float>(magnitude) * 0x1p-9f
          : float_of(((magnitude >> 3) + 120) << 23 | (magnitude & 7) << 20);
  const uint32_t half = magnitude == 0x7f ? kNaN16 : Half::narrow(value);
  return half | (bits & 0x80) << 8;
}

}  // namespace simt
