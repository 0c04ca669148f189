// f16 and bf16, alone and in pairs.
//
// Each operation is done on floats (bf16 fma: doubles) and rounded to 16 bits
// at the end. That is the same as rounding once: a float has more than twice
// the bits of either format and two more, which suffices for + - and *, even
// where the result is subnormal; fma rounds to odd in between (half.h).
#include "common/simt/isa/arithmetic/approximate.h"
#include "common/simt/isa/arithmetic/float.h"

namespace simt {
namespace {

template <class Format>
struct Add {
  float operator()(float a, float b) const { return a + b; }
};

template <class Format>
struct Subtract {
  float operator()(float a, float b) const { return a - b; }
};

template <class Format>
struct Multiply {
  float operator()(float a, float b) const { return a * b; }
};

template <class Format>
struct MultiplyAdd {
  float operator()(float a, float b, float c) const {
    return Format::multiply_add(a, b, c);
  }
};

template <class Format>
struct MultiplySubtract {
  float operator()(float a, float b, float c) const {
    return Format::multiply_add(a, b, -c);
  }
};

template <class Format>
struct SubtractProduct {
  float operator()(float a, float b, float c) const {
    return Format::multiply_add(-a, b, c);
  }
};

template <class Format>
struct SubtractBoth {
  float operator()(float a, float b, float c) const {
    return Format::multiply_add(-a, b, -c);
  }
};

// Negation and magnitude are additions to the hardware: NaN comes out as the
// canonical one, and .ftz flushes.
template <class Format>
struct Negate {
  float operator()(float a) const { return -a; }
};

template <class Format>
struct Absolute {
  float operator()(float a) const { return std::fabs(a); }
};

template <class Format>
float flush_operand(float x) {
  constexpr uint32_t kSmallest =
      std::bit_cast<uint32_t>(Format::kSmallestNormal);
  const uint32_t bits = bits_of(x);
  return float_of((bits & 0x7fffffff) < kSmallest ? bits & 0x80000000 : bits);
}

// Whether .ftz flushes: as for f32, rounded as though there were room below.
template <class Format>
bool is_tiny(float result) {
  const float rounded = Format::widen(Format::narrow(result * 0x1p8f));
  return std::fabs(rounded) < Format::kSmallestNormal * 0x1p8f;
}

template <class Format>
uint16_t finish(float result, FloatModifiers modifiers) {
  if (modifiers.saturate) result = saturate(result);
  // Not fmax: NaN stays.
  if (modifiers.relu) result = result <= 0 ? 0.0f : result;
  const uint16_t narrow = Format::narrow(result);
  const bool vanishes = modifiers.flush && is_tiny<Format>(result);
  return vanishes ? narrow & 0x8000 : narrow;
}

// d = Op(operands), 32 or 64 values: the common case in a loop of its own.
template <class Format, class Op, int kParts, class... In>
void compute(FloatModifiers modifiers, uint32_t mask, uint16_t* out,
             const In*... in) {
  if (modifiers == FloatModifiers{}) {
    map_lanes<kParts>(
        mask, out,
        [](In... x) { return Format::narrow(Op{}(Format::widen(x)...)); },
        in...);
    return;
  }
  const bool ftz = modifiers.flush;
  map_lanes<kParts>(
      mask, out,
      [=](In... x) {
        return finish<Format>(
            Op{}((ftz ? flush_operand<Format>(Format::widen(x))
                      : Format::widen(x))...),
            modifiers);
      },
      in...);
}

const uint16_t* halves(Warp& w, Place place) {
  return lanes<uint16_t>(w, place);
}

template <class Format, int kParts, class Op>
void half_unary(Warp& w, const Instruction& i, uint32_t mask) {
  compute<Format, Op, kParts>(i.modifiers, mask,
                              lanes<uint16_t>(w, i.result(0)),
                              halves(w, i.source(0)));
}

template <class Format, int kParts, class Op>
void half_binary(Warp& w, const Instruction& i, uint32_t mask) {
  compute<Format, Op, kParts>(i.modifiers, mask,
                              lanes<uint16_t>(w, i.result(0)),
                              halves(w, i.source(0)), halves(w, i.source(1)));
}

template <class Format, int kParts, class Op>
void half_ternary(Warp& w, const Instruction& i, uint32_t mask) {
  compute<Format, Op, kParts>(
      i.modifiers, mask, lanes<uint16_t>(w, i.result(0)),
      halves(w, i.source(0)), halves(w, i.source(1)), halves(w, i.source(2)));
}

// Approximate functions. What a float's unit finds is cut off.
template <class Format, int kParts, class Op>
void half_function(Warp& w, const Instruction& i, uint32_t mask) {
  constexpr int kValues = kParts * kLanes;
  const uint16_t* a = halves(w, i.source(0));
  float x[kValues], found[kValues];
  for (int k = 0; k < kValues; ++k) {
    const float whole = Format::widen(a[k]);
    x[k] = i.modifiers.flush ? flush_operand<Format>(whole) : whole;
  }
  approximate_all<Op, kValues>(x, found);
  map_indices<kParts>(mask, lanes<uint16_t>(w, i.result(0)), [&](int k) {
    return finish<Format>(Format::cut(found[k]), i.modifiers);
  });
}

// The handlers of one operation: f16, f16x2, bf16, bf16x2.
struct Handlers {
  Handler half, half_pair, bfloat, bfloat_pair;

  Handler of(Type t) const {
    switch (t.kind) {
      case 'h':
        return half;
      case 'x':
        return half_pair;
      case 'y':
        return bfloat;
      default:
        return bfloat_pair;
    }
  }
};

template <template <class> class Op>
constexpr Handlers kUnary = {
    half_unary<Half, 1, Op<Half>>, half_unary<Half, 2, Op<Half>>,
    half_unary<BFloat, 1, Op<BFloat>>, half_unary<BFloat, 2, Op<BFloat>>};

template <template <class> class Op>
constexpr Handlers kBinary = {
    half_binary<Half, 1, Op<Half>>, half_binary<Half, 2, Op<Half>>,
    half_binary<BFloat, 1, Op<BFloat>>, half_binary<BFloat, 2, Op<BFloat>>};

template <template <class> class Op>
constexpr Handlers kTernary = {
    half_ternary<Half, 1, Op<Half>>, half_ternary<Half, 2, Op<Half>>,
    half_ternary<BFloat, 1, Op<BFloat>>, half_ternary<BFloat, 2, Op<BFloat>>};

template <class Op>
constexpr Handlers kFunction = {
    half_function<Half, 1, Op>, half_function<Half, 2, Op>,
    half_function<BFloat, 1, Op>, half_function<BFloat, 2, Op>};

void decode_operands(Decoding& d, int count) {
  d.ins.modifiers = take_modifiers(d);
  const int n = d.type.bytes;
  d.bind(n, count > 1 ? n : 0, count > 2 ? n : 0);
}

template <const Handlers& handlers>
void decode_sum_or_product(Decoding& d) {
  d.take("rn");
  decode_operands(d, 2);
  d.ins.run = handlers.of(d.type);
}

void decode_fma(Decoding& d) {
  d.take("rn");
  decode_operands(d, 3);
  d.ins.run = kTernary<MultiplyAdd>.of(d.type);
}

template <const Handlers& handlers>
void decode_sign(Decoding& d) {
  decode_operands(d, 1);
  d.ins.run = handlers.of(d.type);
}

// Of the functions, ex2.approx.ftz.bf16 alone flushes.
template <class Op>
void decode_function(Decoding& d) {
  d.take("approx");
  decode_operands(d, 1);
  d.ins.run = kFunction<Op>.of(d.type);
}

}  // namespace

Handler fused_half_handler(Type type, Fused form) {
  if (std::string_view("hxyz").find(type.kind) == std::string_view::npos)
    return nullptr;
  return (form == Fused::kSum            ? kTernary<MultiplyAdd>
          : form == Fused::kMinusAddend  ? kTernary<MultiplySubtract>
          : form == Fused::kMinusProduct ? kTernary<SubtractProduct>
                                         : kTernary<SubtractBoth>)
      .of(type);
}

const Family& half_family() {
  static const Family family = {
      "hxyz",
      {{"add", decode_sum_or_product<kBinary<Add>>},
       {"sub", decode_sum_or_product<kBinary<Subtract>>},
       {"mul", decode_sum_or_product<kBinary<Multiply>>},
       {"fma", decode_fma},
       {"neg", decode_sign<kUnary<Negate>>},
       {"abs", decode_sign<kUnary<Absolute>>},
       {"ex2", decode_function<PowerOfTwo<false>>},
       {"tanh", decode_function<Tangent>}}};
  return family;
}

}  // namespace simt
