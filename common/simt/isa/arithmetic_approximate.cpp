// Functions that a GPU approximates: those of floats have an H100's bits. Those
// of doubles are the nearest number: PTX promises an error bound, and they are
// closer than that.
#include <numbers>

#include "common/simt/isa/arithmetic_float.h"
#include "common/simt/isa/interpolation.h"

namespace simt {
namespace {

// A function is its unit, what the unit is asked (1 where it is not asked) and
// what its answer means. Else the value is exact.
bool is_positive(float x) {
  return (x > 0) & (x <= std::numeric_limits<float>::max());
}

struct ReciprocalRoot {
  using Unit = RootReciprocalUnit;
  static float asked(float x) { return is_positive(x) ? x : 1; }
  static float answer(float x, float found) {
    const float other = 1 / std::sqrt(x);
    return is_positive(x) ? found : other;
  }
  double operator()(double x) const { return 1 / std::sqrt(x); }
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
  double operator()(double x) const { return 1 / x; }
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

// For all lanes: a few vector instructions.
template <class Op>
void function(Warp& w, const Instruction& i, uint32_t mask) {
  const bool ftz = i.modifiers.flush;
  const auto* from = lanes<float>(w, i.source(0));
  float x[kLanes], asked[kLanes], found[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    x[l] = ftz ? flush(from[l]) : from[l];
    asked[l] = Op::asked(x[l]);
  }
  interpolate_all<typename Op::Unit, kLanes>(asked, found);
  map_lanes(
      mask, lanes<float>(w, i.result(0)),
      [=](float x, float found) {
        const float result = canonical(Op::answer(x, found));
        return ftz ? flush(result) : result;
      },
      static_cast<const float*>(x), static_cast<const float*>(found));
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
// alike. Library code starts Newton's iteration from them.
template <class Op>
struct UpperHalf {
  double operator()(double x) const {
    constexpr uint64_t kUpper = 0xffffffff00000000;
    const double result = Op{}(flush(double_of(bits_of(x) & kUpper)));
    const double upper = flush(double_of(bits_of(result) & kUpper));
    return x != x || result != result ? double_of(uint64_t{kNaN32} << 32)
                                      : upper;
  }
};

template <class Op>
void decode_function_of_double(Decoding& d) {
  d.take("approx");
  const bool upper = d.take("ftz");
  d.bind(8);
  d.ins.run = upper ? unary<UpperHalf<Op>, double> : unary<Op, double>;
}

template <class Op>
void decode_by_width(Decoding& d) {
  if (d.type.bytes == 8)
    decode_function_of_double<Op>(d);
  else
    decode_function<function<Op>>(d);
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
       {"rsqrt", decode_by_width<ReciprocalRoot>},
       {"rcp", decode_by_width<Reciprocal>},
       {"sqrt", decode_function<function<SquareRoot>>},
       {"div", decode_div}}};
  return family;
}

}  // namespace simt
