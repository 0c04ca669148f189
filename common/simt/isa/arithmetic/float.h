// What the floating-point families share: rounding, flushing, saturation, NaN.
#pragma once
#include <cfenv>
#include <cmath>
#include <type_traits>

#include "common/simt/core/half.h"
#include "common/simt/isa/arithmetic/decode.h"

namespace simt {

// The host rounds as asked while one of these lives. No pragma is needed to
// keep the arithmetic between its two ends: operands are loaded from memory
// that fesetround might change, as far as the compiler knows, and results are
// stored to memory that it might read.
class RoundingScope {
 public:
  explicit RoundingScope(Rounding rounding) {
    constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD,
                              FE_UPWARD};
    std::fesetround(kModes[static_cast<int>(rounding)]);
  }
  ~RoundingScope() { std::fesetround(FE_TONEAREST); }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;
};

// A handler under the instruction's rounding.
template <Handler handler>
void rounded(Warp& w, const Instruction& i, uint32_t mask) {
  const RoundingScope scope(i.rounding);
  handler(w, i, mask);
}

// Takes .rn, .rz, .rm or .rp; what is not said is to nearest.
inline Rounding take_rounding(Decoding& d) {
  const int found = d.take_one({"rn", "rz", "rm", "rp"});
  return found < 0 ? Rounding::kNearest : static_cast<Rounding>(found);
}

inline FloatModifiers take_modifiers(Decoding& d) {
  return {.flush = d.take("ftz"),
          .saturate = d.take("sat"),
          .relu = d.take("relu"),
          .finite = d.take("satfinite"),
          .propagate_nan = d.take("NaN"),
          .by_magnitude = d.take("xorsign") && d.take("abs")};
}

// Subnormals become 0 of the same sign. On bits, because comparing floats may
// trap in theory, and the compiler will not make vectors of what may trap.
inline float flush(float x) {
  const uint32_t bits = bits_of(x);
  return float_of(bits & 0x7f800000 ? bits : bits & 0x80000000);
}

inline double flush(double x) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  const uint64_t bits = bits_of(x);
  return double_of(bits & 0x7ff0000000000000 ? bits : bits & kSign);
}

// A single-precision NaN loses sign and payload in any computation.
inline float canonical(float x) { return x != x ? float_of(kNaN32) : x; }

// Which NaN comes out. Single precision knows one. Double keeps the payload
// of an operand and makes it quiet; of several NaNs the hardware takes b, then
// c, then a, but division, which is software, takes a first. An invalid
// operation makes 0xfff8000000000000. All this as seen on an H200. The host
// must not choose: its choice depends on how the compiler ordered operands.
constexpr uint64_t kQuietBit = uint64_t{1} << 51;
constexpr uint64_t kInvalid64 = 0xfff8000000000000;

inline double first_nan(double result, double x, double y = 0, double z = 0) {
  const uint64_t nan = x != x   ? bits_of(x) | kQuietBit
                       : y != y ? bits_of(y) | kQuietBit
                       : z != z ? bits_of(z) | kQuietBit
                                : kInvalid64;
  return result != result ? double_of(nan) : result;
}

// Into [0, 1]; NaN and -0 become +0.
template <class T>
inline T saturate(T x) {
  const T positive = x > 0 ? x : T(0);
  return positive < 1 ? positive : T(1);
}

}  // namespace simt
