// What the two files about cvt share.
#pragma once
#include "common/simt/isa/arithmetic/float.h"

namespace simt {

// Formats: how a value is stored in a register, and computed with.
struct Single {
  using Stored = float;
  using Value = float;
  static float widen(float x) { return x; }
};

struct Double {
  using Stored = double;
  using Value = double;
  static double widen(double x) { return x; }
};

// Whole numbers in place of 32 values.
template <class T>
void round_to_integral(T* x, Rounding rounding) {
  switch (rounding) {
    case Rounding::kNearest:
      for (int l = 0; l < kLanes; ++l) x[l] = std::rint(x[l]);
      break;
    case Rounding::kToZero:
      for (int l = 0; l < kLanes; ++l) x[l] = std::trunc(x[l]);
      break;
    case Rounding::kDown:
      for (int l = 0; l < kLanes; ++l) x[l] = std::floor(x[l]);
      break;
    case Rounding::kUp:
      for (int l = 0; l < kLanes; ++l) x[l] = std::ceil(x[l]);
      break;
  }
}

// The source operand of a conversion, widened. .ftz applies to f32 alone, and
// is a multiplication by 1 to the hardware: NaN comes out canonical.
template <class From>
void read_values(Warp& w, const Instruction& i, typename From::Value* x) {
  const typename From::Stored* a = lanes<typename From::Stored>(w, i.source(0));
  for (int l = 0; l < kLanes; ++l) x[l] = From::widen(a[l]);
  if constexpr (std::is_same_v<From, Single>)
    if (i.modifiers.flush)
      for (int l = 0; l < kLanes; ++l) x[l] = canonical(flush(x[l]));
}

// The 16-bit number on the right side of x: `nearest`, or its neighbour. Only
// comparisons are made, so x may be a number rounded to odd.
template <class Format>
uint16_t direct(uint16_t nearest, float x, Rounding rounding) {
  const float value = Format::widen(nearest);
  const bool negative = nearest & 0x8000;
  const bool above = value > x, below = value < x;
  const bool decrement = rounding == Rounding::kToZero
                             ? (negative ? below : above)
                         : rounding == Rounding::kDown ? above && !negative
                                                       : below && negative;
  const bool increment = rounding == Rounding::kDown ? above && negative
                         : rounding == Rounding::kUp ? below && !negative
                                                     : false;
  return nearest - decrement + increment;
}

template <class Format>
uint16_t narrow_to(float x, Rounding rounding) {
  const uint16_t nearest = Format::narrow(x);
  if (rounding == Rounding::kNearest) return nearest;
  return direct<Format>(nearest, x, rounding);
}

// Between floating formats (narrow.cpp).
Handler convert_float(Type to, Type from, Rounding rounding,
                      FloatModifiers modifiers);
Handler convert_pair(Type to, bool plain);  // no modifiers, to nearest
Handler convert_tf32(bool away, bool finite);

// To or from pairs of 8-bit floats (eighth.cpp); false: neither.
bool decode_eighths(Decoding& d);

}  // namespace simt
