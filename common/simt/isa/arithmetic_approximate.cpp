// Functions that a GPU approximates: ex2, lg2, sin, cos, tanh, rsqrt, and
// division and roots marked .approx or .full.
//
// PTX promises an error bound, not bits. Ours are computed in double and
// rounded once, closer to the true value than any of those bounds: they may
// differ from a GPU in the last bits. Special values are PTX's.
#include <numbers>

#include "common/simt/isa/arithmetic_float.h"

namespace simt {
namespace {

struct Log2 {
  double operator()(double x) const { return std::log2(x); }
};

// A GPU makes turns of radians first, in a float that is rounded towards zero:
// of large numbers little is left, and of the largest nothing (an H100's do
// so).
double without_turns(double x) {
  const double exact = x * double(0.15915494309f);
  float turns = float(exact);
  if (std::abs(turns) > std::abs(exact)) turns = std::nextafter(turns, 0.f);
  return 2 * std::numbers::pi * std::fmod(turns, 1.f);
}

struct Sine {
  double operator()(double x) const { return std::sin(without_turns(x)); }
};

struct Cosine {
  double operator()(double x) const { return std::cos(without_turns(x)); }
};

struct ReciprocalRoot {
  double operator()(double x) const { return 1 / std::sqrt(x); }
};

struct Reciprocal {
  double operator()(double x) const { return 1 / x; }
};

struct SquareRoot {
  double operator()(double x) const { return std::sqrt(x); }
};

template <class Op>
float approximate(float x, bool ftz) {
  const float result = canonical(float(Op{}(ftz ? flush(x) : x)));
  return ftz ? flush(result) : result;
}

// A library call a lane: only for lanes that are on.
template <class Op>
void function(Warp& w, const Instruction& i, uint32_t mask) {
  const bool ftz = i.modifiers.flush;
  each_lane(
      mask, lanes<float>(w, i.result(0)),
      [=](float x) { return approximate<Op>(x, ftz); },
      lanes<float>(w, i.source(0)));
}

// A few vector instructions: for all lanes.
template <class Op>
void quick_function(Warp& w, const Instruction& i, uint32_t mask) {
  const bool ftz = i.modifiers.flush;
  map_lanes(
      mask, lanes<float>(w, i.result(0)),
      [=](float x) { return approximate<Op>(x, ftz); },
      lanes<float>(w, i.source(0)));
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
    decode_function<quick_function<Op>>(d);
}

// div.full scales its operands; div.approx multiplies by a reciprocal that is
// flushed to 0 when |b| > 2^126, which PTX documents.
template <bool kFull>
void divide(Warp& w, const Instruction& i, uint32_t mask) {
  const bool ftz = i.modifiers.flush;
  map_lanes(
      mask, lanes<float>(w, i.result(0)),
      [=](float a, float b) {
        a = ftz ? flush(a) : a;
        b = ftz ? flush(b) : b;
        const bool vanishes = !kFull && std::fabs(b) > 0x1p126f;
        const float by_zero = a * std::copysign(0.0f, b);
        const float quotient = canonical(vanishes ? by_zero : a / b);
        return ftz ? flush(quotient) : quotient;
      },
      static_cast<const float*>(lanes<float>(w, i.source(0))),
      static_cast<const float*>(lanes<float>(w, i.source(1))));
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
      {{"ex2", decode_function<function<Exp2>>},
       {"lg2", decode_function<function<Log2>>},
       {"sin", decode_function<function<Sine>>},
       {"cos", decode_function<function<Cosine>>},
       {"tanh", decode_function<function<HyperbolicTangent>>},
       {"rsqrt", decode_by_width<ReciprocalRoot>},
       {"rcp", decode_by_width<Reciprocal>},
       {"sqrt", decode_function<quick_function<SquareRoot>>},
       {"div", decode_div}}};
  return family;
}

}  // namespace simt
