// Instructions that a GPU approximates, with an H100's bits. Those of halves
// are in half.cpp.
#include "common/simt/isa/arithmetic/approximate.h"

#include "common/simt/isa/arithmetic/float.h"

namespace simt {
namespace {

// For all lanes: a few vector instructions.
template <class Op>
void function(Warp& w, const Instruction& i, uint32_t mask) {
  const bool ftz = i.modifiers.flush;
  const auto* from = lanes<float>(w, i.source(0));
  float x[kLanes], found[kLanes];
  for (int l = 0; l < kLanes; ++l) x[l] = ftz ? flush(from[l]) : from[l];
  approximate_all<Op, kLanes>(x, found);
  map_lanes(
      mask, lanes<float>(w, i.result(0)),
      [=](float result) {
        const float one = canonical(result);
        return ftz ? flush(one) : one;
      },
      static_cast<const float*>(found));
}

void power_of_two(Warp& w, const Instruction& i, uint32_t mask) {
  i.modifiers.flush ? function<PowerOfTwo<true>>(w, i, mask)
                    : function<PowerOfTwo<false>>(w, i, mask);
}

template <Handler handler>
void decode_function(Decoding& d) {
  d.take("approx");
  d.ins.modifiers = take_modifiers(d);
  d.bind(4);
  d.ins.run = handler;
}

// rcp.approx.ftz.f64 looks at the upper 32 bits of its operand and writes the
// upper 32 bits of its result; the lower ones are 0. rsqrt.approx.ftz.f64 is
// alike. Library code starts Newton's iteration from them. The float's units
// find them, from 20 bits behind the point to as many.
double upper(double x) { return double_of(bits_of(x) >> 32 << 32); }
double found_in_upper(float mantissa, int exponent) {
  const double kept = float_of(bits_of(mantissa) & ~7u);
  return flush(std::ldexp(kept, exponent));
}

struct ReciprocalOfDouble {
  double operator()(double whole) const {
    const double x = flush(upper(whole)), size = std::fabs(x);
    if (!(size > 0 && std::isfinite(size)))
      return x != x ? double_of(uint64_t{kNaN32} << 32) : 1 / x;
    const int exponent = std::ilogb(size);
    const auto one = static_cast<float>(std::ldexp(size, -exponent));
    float part;
    interpolate_all<ReciprocalUnit, 1>(&one, &part);
    return std::copysign(found_in_upper(part, -exponent), x);
  }
};

struct RootReciprocalOfDouble {
  double operator()(double whole) const {
    const double x = flush(upper(whole));
    if (!(x > 0 && std::isfinite(x)))
      return x < 0 || x != x ? double_of(uint64_t{kNaN32} << 32)
                             : 1 / std::sqrt(x);
    const int half = std::ilogb(x) >> 1;
    const auto one = static_cast<float>(std::ldexp(x, -2 * half));
    float part;
    interpolate_all<RootReciprocalUnit, 1>(&one, &part);
    return found_in_upper(part, -half);
  }
};

// Without .ftz a library's code finds the root of a double, all of it.
struct WholeRootReciprocal {
  double operator()(double x) const { return 1 / std::sqrt(x); }
};

template <class OfFloat, class Upper, class Whole>
void decode_by_width(Decoding& d) {
  if (d.type.bytes != 8) return decode_function<function<OfFloat>>(d);
  d.take("approx");
  const bool upper = d.take("ftz");
  d.bind(8);
  d.ins.run = upper ? unary<Upper, double> : unary<Whole, double>;
}

// A product with the reciprocal. Both operands are scaled where that would be
// subnormal, by div.full, or would be one of a subnormal number. div.approx
// takes 0 for a reciprocal that is subnormal, which PTX documents.
template <bool kFull>
void divide(Warp& w, const Instruction& i, uint32_t mask) {
  const bool ftz = i.modifiers.flush;
  const auto* top = lanes<float>(w, i.source(0));
  const auto* bottom = lanes<float>(w, i.source(1));
  float a[kLanes], b[kLanes], asked[kLanes], found[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    const float above = ftz ? flush(top[l]) : top[l];
    const float below = ftz ? flush(bottom[l]) : bottom[l];
    const float size = std::fabs(below);
    const float scale = size < 0x1p-126f           ? 0x1p24f
                        : kFull && size > 0x1p126f ? 0.25f
                                                   : 1;
    a[l] = above * scale;
    b[l] = below * scale;
    asked[l] = Reciprocal::asked(b[l]);
  }
  interpolate_all<ReciprocalUnit, kLanes>(asked, found);
  const auto* reciprocals = static_cast<const float*>(found);
  map_indices(mask, lanes<float>(w, i.result(0)), [&](int l) {
    const float reciprocal = flush(Reciprocal::answer(b[l], reciprocals[l]));
    const float quotient = canonical(a[l] * reciprocal);
    return ftz ? flush(quotient) : quotient;
  });
}

void decode_div(Decoding& d) {
  const int full = d.take_one({"approx", "full"});
  d.ins.modifiers = take_modifiers(d);
  d.bind(4, 4);
  d.ins.run = full ? divide<true> : divide<false>;
}

}  // namespace

const Family& approximate_family() {
  static const Family family = {
      "f",
      {{"ex2", decode_function<power_of_two>},
       {"lg2", decode_function<function<Logarithm>>},
       {"sin", decode_function<function<Sine<0>>>},
       {"cos", decode_function<function<Sine<1>>>},
       {"tanh", decode_function<function<Tangent>>},
       {"rsqrt", decode_by_width<ReciprocalRoot, RootReciprocalOfDouble,
                                 WholeRootReciprocal>},
       {"rcp",
        decode_by_width<Reciprocal, ReciprocalOfDouble, ReciprocalOfDouble>},
       {"sqrt", decode_function<function<SquareRoot>>},
       {"div", decode_div}}};
  return family;
}

}  // namespace simt
