// What the floating-point families share: rounding, flushing, saturation, NaN.
#pragma once
#include <cfenv>
#include <cmath>
#include <type_traits>

#include "common/simt/arithmetic_decode.h"
#include "common/simt/half.h"

namespace simt {

// To nearest even, to zero, down, up. The order of the PTX modifiers below.
enum Rounding : uint8_t { kNearest, kToZero, kDown, kUp };

// The host rounds as asked while one of these lives. No pragma is needed to
// keep the arithmetic between its two ends: operands are loaded from memory
// that fesetround might change, as far as the compiler knows, and results are
// stored to memory that it might read.
class RoundingScope {
 public:
  explicit RoundingScope(uint8_t rounding) {
    constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD,
                              FE_UPWARD};
    std::fesetround(kModes[rounding]);
  }
  ~RoundingScope() { std::fesetround(FE_TONEAREST); }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;
};

// A handler under the rounding in `mode`.
template <Handler handler>
void rounded(Warp& w, const Instruction& i, uint32_t mask) {
  const RoundingScope scope(i.mode);
  handler(w, i, mask);
}

// Takes .rn, .rz, .rm or .rp; what is not said is to nearest.
inline Rounding take_rounding(Decoding& d) {
  const int found = d.take_one({"rn", "rz", "rm", "rp"});
  return found < 0 ? kNearest : static_cast<Rounding>(found);
}

enum FloatFlags : uint8_t {
  kFlush = 1,     // .ftz: subnormal operands and results become 0
  kSaturate = 2,  // .sat: into [0, 1], NaN becomes 0
  kRelu = 4,      // .relu: negative becomes 0
};

inline uint8_t take_flags(Decoding& d) {
  uint8_t flags = 0;
  if (d.take("ftz")) flags |= kFlush;
  if (d.take("sat")) flags |= kSaturate;
  if (d.take("relu")) flags |= kRelu;
  return flags;
}

template <class T>
constexpr T kSmallestNormal = sizeof(T) == 4 ? T(0x1p-126) : T(0x1p-1022);

// Subnormals become 0 of the same sign.
template <class T>
inline T flush(T x) {
  return std::fabs(x) < kSmallestNormal<T> ? std::copysign(T(0), x) : x;
}

// A single-precision NaN loses sign and payload in any computation.
inline float canonical(float x) { return x != x ? float_of(kNaN32) : x; }

// Into [0, 1]; NaN and -0 become +0.
template <class T>
inline T saturate(T x) {
  const T positive = x > 0 ? x : T(0);
  return positive < 1 ? positive : T(1);
}

}  // namespace simt
