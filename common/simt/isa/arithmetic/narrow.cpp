// cvt between floating formats.
#include "common/simt/isa/arithmetic/convert.h"

namespace simt {
namespace {

// .sat and .relu act on the value, .satfinite on what became of it.
template <class Format>
uint16_t finish(float x, Rounding rounding, FloatModifiers modifiers) {
  if (modifiers.saturate) x = saturate(x);
  if (modifiers.relu) x = x <= 0 ? 0.0f : x;
  const uint16_t result = narrow_to<Format>(x, rounding);
  const bool infinite = (result & 0x7fff) == Format::kInfinity;
  return modifiers.finite && infinite ? result - 1 : result;
}

float finish_single(float x, FloatModifiers modifiers) {
  x = canonical(x);
  if (modifiers.flush) x = flush(x);
  return modifiers.saturate ? saturate(x) : x;
}

// A NaN made double, or made of a double, keeps its sign and as much of its
// payload as there is room for, and becomes quiet.
double finish_double(double x, FloatModifiers modifiers) {
  const double quiet = double_of(bits_of(x) | uint64_t{1} << 51);
  x = x != x ? quiet : x;
  return modifiers.saturate ? saturate(x) : x;
}

uint32_t nan_of_double(double x) {
  const uint32_t sign = bits_of(x) >> 32 & 0x80000000;
  const uint32_t payload = bits_of(x) >> 29 & 0x7fffff;
  return sign | 0x7fc00000 | payload;
}

// A value as the destination stores it.
template <class To>
struct Narrow;

template <>
struct Narrow<Single> {
  static float from(float x, Rounding, FloatModifiers modifiers) {
    return finish_single(x, modifiers);
  }
};

template <>
struct Narrow<Double> {
  static double from(double x, Rounding, FloatModifiers modifiers) {
    return finish_double(x, modifiers);
  }
};

template <class Format>
struct NarrowTo16 {
  static uint16_t from(float x, Rounding rounding, FloatModifiers modifiers) {
    return finish<Format>(x, rounding, modifiers);
  }
  static uint16_t from(double x, Rounding rounding, FloatModifiers modifiers) {
    const uint16_t result =
        finish<Format>(narrow_to_odd(x), rounding, modifiers);
    const uint32_t nan = nan_of_double(x);
    const uint32_t mantissa = (nan & 0x7fffff) >> (23 - Format::kMantissaBits);
    const uint16_t nan16 = (nan >> 16 & 0x8000) | Format::kInfinity | mantissa;
    return x != x && !modifiers.saturate ? nan16 : result;
  }
};
template <>
struct Narrow<Half> : NarrowTo16<Half> {};
template <>
struct Narrow<BFloat> : NarrowTo16<BFloat> {};

template <class To, class From>
void convert(Warp& w, const Instruction& i, uint32_t mask) {
  typename From::Value x[kLanes];
  read_values<From>(w, i, x);
  const Rounding rounding = i.rounding;
  const FloatModifiers modifiers = i.modifiers;
  if (modifiers.integral) round_to_integral(x, rounding);
  map_lanes(
      mask, lanes<typename To::Stored>(w, i.result(0)),
      [=](typename From::Value x) {
        return Narrow<To>::from(x, rounding, modifiers);
      },
      static_cast<const typename From::Value*>(x));
}

// Straight from registers to registers, so that it may run under
// RoundingScope.
void double_to_single(Warp& w, const Instruction& i, uint32_t mask) {
  const FloatModifiers modifiers = i.modifiers;
  map_lanes(
      mask, lanes<float>(w, i.result(0)),
      [=](double x) {
        const float result = finish_single(static_cast<float>(x), modifiers);
        const bool keeps_nan = x != x && !modifiers.saturate;
        return keeps_nan ? float_of(nan_of_double(x)) : result;
      },
      static_cast<const double*>(lanes<double>(w, i.source(0))));
}

// The common conversions, without modifiers, to nearest.
template <class Format>
void single_to_16(Warp& w, const Instruction& i, uint32_t mask) {
  map_lanes(mask, lanes<uint16_t>(w, i.result(0)), Format::narrow,
            lanes<float>(w, i.source(0)));
}

void half_to_single(Warp& w, const Instruction& i, uint32_t mask) {
  map_lanes(
      mask, lanes<float>(w, i.result(0)),
      [](uint16_t h) { return canonical(Half::widen(h)); },
      lanes<uint16_t>(w, i.source(0)));
}

// A shift to the hardware: NaN keeps sign and payload.
void bfloat_to_single(Warp& w, const Instruction& i, uint32_t mask) {
  map_lanes(mask, lanes<float>(w, i.result(0)), BFloat::widen,
            lanes<uint16_t>(w, i.source(0)));
}

// cvt.f32.f32 without modifiers is a move. That of 16 bits adds -0 to the
// hardware: NaN comes out canonical.
template <class T>
void copy(Warp& w, const Instruction& i, uint32_t mask) {
  map_lanes(
      mask, lanes<T>(w, i.result(0)), [](T x) { return x; },
      lanes<T>(w, i.source(0)));
}

Handler quick_conversion(Type to, Type from) {
  if (to.is('h') && from == Type{'f', 4}) return single_to_16<Half>;
  if (to.is('y') && from == Type{'f', 4}) return single_to_16<BFloat>;
  if (to == Type{'f', 4} && from.is('h')) return half_to_single;
  if (to == Type{'f', 4} && from.is('y')) return bfloat_to_single;
  if (to == from && to.bytes == 4) return copy<uint32_t>;
  if (to == from && to.bytes == 8) return copy<uint64_t>;
  return nullptr;
}

template <class To>
Handler convert_to(Type from) {
  switch (from.kind) {
    case 'h':
      return convert<To, Half>;
    case 'y':
      return convert<To, BFloat>;
    case 'f':
      if (from.bytes == 4) return convert<To, Single>;
      if constexpr (!std::is_same_v<To, Single>) return convert<To, Double>;
  }
  return nullptr;
}

// cvt.rn.f16x2.f32 d, a, b: a becomes the upper half.
template <class Format>
void pair_of_singles(Warp& w, const Instruction& i, uint32_t mask) {
  const Rounding rounding = i.rounding;
  const FloatModifiers modifiers = i.modifiers;
  map_lanes(
      mask, lanes<uint32_t>(w, i.result(0)),
      [=](float a, float b) {
        const uint32_t high = finish<Format>(a, rounding, modifiers);
        return high << 16 | finish<Format>(b, rounding, modifiers);
      },
      static_cast<const float*>(lanes<float>(w, i.source(0))),
      static_cast<const float*>(lanes<float>(w, i.source(1))));
}

// The same without modifiers, to nearest.
template <class Format>
void nearest_pair_of_singles(Warp& w, const Instruction& i, uint32_t mask) {
  map_lanes(
      mask, lanes<uint32_t>(w, i.result(0)),
      [](float a, float b) {
        return uint32_t{Format::narrow(a)} << 16 | Format::narrow(b);
      },
      static_cast<const float*>(lanes<float>(w, i.source(0))),
      static_cast<const float*>(lanes<float>(w, i.source(1))));
}

// tf32 is a float whose last 13 bits are 0. Ties away from zero are an addition
// to ptxas, which leaves infinity and NaN alone, and cuts a NaN's payload like
// any other mantissa.
struct AwayToTf32 {
  uint32_t operator()(uint32_t bits) const {
    const bool finite = (bits & 0x7fffffff) < 0x7f800000;
    return (finite ? bits + 0x1000 : bits) & 0xffffe000;
  }
};
struct AwayToFiniteTf32 {
  uint32_t operator()(uint32_t bits) const {
    constexpr uint32_t kInfinity = 0x7f800000, kGreatest = 0x7f7fe000;
    const uint32_t result = AwayToTf32{}(bits);
    const bool infinite = (result & 0x7fffffff) == kInfinity;
    return infinite ? (result & 0x80000000) | kGreatest : result;
  }
};

void to_tf32(Warp& w, const Instruction& i, uint32_t mask) {
  const bool nearest = i.rounding == Rounding::kNearest;
  const bool relu = i.modifiers.relu;
  map_lanes(
      mask, lanes<uint32_t>(w, i.result(0)),
      [=](float x) {
        if (relu) x = x <= 0 ? 0.0f : x;
        const uint32_t bits = bits_of(x);
        const uint32_t half_ulp = nearest ? 0xfff + (bits >> 13 & 1) : 0;
        return (x != x ? kNaN32 : bits + half_ulp) & 0xffffe000;
      },
      static_cast<const float*>(lanes<float>(w, i.source(0))));
}

}  // namespace

Handler convert_float(Type to, Type from, Rounding rounding,
                      FloatModifiers modifiers) {
  const bool nearest = rounding == Rounding::kNearest;
  if (nearest && modifiers == FloatModifiers{})
    if (const Handler quick = quick_conversion(to, from)) return quick;
  if (to == Type{'f', 4} && from == Type{'f', 8})
    return nearest ? double_to_single : rounded<double_to_single>;
  switch (to.kind) {
    case 'h':
      return convert_to<Half>(from);
    case 'y':
      return convert_to<BFloat>(from);
    case 'f':
      return to.bytes == 4 ? convert_to<Single>(from)
                           : convert_to<Double>(from);
  }
  return nullptr;
}

Handler convert_pair(Type to, bool plain) {
  if (plain)
    return to.is('x') ? nearest_pair_of_singles<Half>
                      : nearest_pair_of_singles<BFloat>;
  return to.is('x') ? pair_of_singles<Half> : pair_of_singles<BFloat>;
}

Handler convert_tf32(bool away, bool finite) {
  if (!away) return to_tf32;
  return finite ? unary<AwayToFiniteTf32, uint32_t>
                : unary<AwayToTf32, uint32_t>;
}

}  // namespace simt
