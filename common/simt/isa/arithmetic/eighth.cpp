// cvt to and from pairs of 8-bit floats. The first of two is the upper one.
#include <algorithm>
#include <cmath>

#include "common/simt/core/half.h"
#include "common/simt/isa/arithmetic/convert.h"

namespace simt {
namespace {

struct Eighth {
  int bias, mantissa_bits;
  uint32_t largest;  // what is beyond becomes that
};
constexpr Eighth kE4M3{7, 3, 0x7e}, kE5M2{15, 2, 0x7b};
constexpr uint32_t kNaN8 = 0x7f;

// To nearest even, in steps of the last bit of its exponent.
uint32_t narrow(const Eighth& format, float x, bool relu) {
  if (x != x) return kNaN8;
  const uint32_t sign = bits_of(x) >> 24 & 0x80;
  if (relu && sign) return 0;
  const double magnitude = std::abs(double{x});
  if (magnitude > 1e6) return sign | format.largest;
  const int exponent = std::max(std::ilogb(magnitude), 1 - format.bias);
  const auto steps = static_cast<uint32_t>(
      std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent)));
  const uint32_t bits = (static_cast<uint32_t>(exponent + format.bias - 1)
                         << format.mantissa_bits) +
                        steps;
  return sign | std::min(bits, format.largest);
}

uint32_t widen(const Eighth& format, uint32_t bits, bool relu) {
  if (relu && bits & 0x80 && (bits & 0x7f) <= format.largest) return 0;
  const uint32_t half =
      format.bias == kE4M3.bias ? half_of_e4m3(bits) : bits << 8;
  return (half & 0x7fff) > 0x7c00 ? kNaN16 : half;
}

template <const Eighth& format>
void of_singles(Warp& w, const Instruction& i, uint32_t mask) {
  const bool relu = i.modifiers.relu;
  map_lanes(
      mask, lanes<uint16_t>(w, i.result(0)),
      [=](float a, float b) -> uint16_t {
        return narrow(format, a, relu) << 8 | narrow(format, b, relu);
      },
      static_cast<const float*>(lanes<float>(w, i.source(0))),
      static_cast<const float*>(lanes<float>(w, i.source(1))));
}

template <const Eighth& format>
void of_halves(Warp& w, const Instruction& i, uint32_t mask) {
  const bool relu = i.modifiers.relu;
  map_lanes(
      mask, lanes<uint16_t>(w, i.result(0)),
      [=](uint32_t pair) -> uint16_t {
        const float high = Half::widen(pair >> 16);
        const float low = Half::widen(pair & 0xffff);
        return narrow(format, high, relu) << 8 | narrow(format, low, relu);
      },
      static_cast<const uint32_t*>(lanes<uint32_t>(w, i.source(0))));
}

template <const Eighth& format>
void to_halves(Warp& w, const Instruction& i, uint32_t mask) {
  const bool relu = i.modifiers.relu;
  map_lanes(
      mask, lanes<uint32_t>(w, i.result(0)),
      [=](uint16_t pair) {
        return widen(format, pair >> 8, relu) << 16 |
               widen(format, pair & 0xff, relu);
      },
      static_cast<const uint16_t*>(lanes<uint16_t>(w, i.source(0))));
}

template <const Eighth& format>
void decode(Decoding& d) {
  d.take("rn");
  d.ins.modifiers.relu = d.take("relu");
  const bool narrows = d.take("satfinite");
  const bool halves = d.take_type().is('x');
  if (!narrows) {
    d.bind(2);
    d.ins.run = to_halves<format>;
  } else if (halves) {
    d.bind(4);
    d.ins.run = of_halves<format>;
  } else {
    d.bind(4, 4);
    d.ins.run = of_singles<format>;
  }
}

}  // namespace

bool decode_eighths(Decoding& d) {
  if (d.take("e4m3x2"))
    decode<kE4M3>(d);
  else if (d.take("e5m2x2"))
    decode<kE5M2>(d);
  else
    return false;
  return true;
}

}  // namespace simt
