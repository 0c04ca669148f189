// f32 and f64 arithmetic that IEEE 754 defines to the last bit.
#include "common/simt/isa/arithmetic/float.h"

namespace simt {
namespace {

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return a + b;
  }
};

struct Subtract {
  template <class T>
  T operator()(T a, T b) const {
    return a - b;
  }
};

struct Multiply {
  template <class T>
  T operator()(T a, T b) const {
    return a * b;
  }
};

struct MultiplyAdd {
  template <class T>
  T operator()(T a, T b, T c) const {
    return std::fma(a, b, c);
  }
};

struct MultiplySubtract {
  template <class T>
  T operator()(T a, T b, T c) const {
    return std::fma(a, b, -c);
  }
};

struct SubtractProduct {
  template <class T>
  T operator()(T a, T b, T c) const {
    return std::fma(-a, b, c);
  }
};

struct SubtractBoth {
  template <class T>
  T operator()(T a, T b, T c) const {
    return std::fma(-a, b, -c);
  }
};

struct Divide {
  template <class T>
  T operator()(T a, T b) const {
    return a / b;
  }
};

struct Reciprocal {
  template <class T>
  T operator()(T a) const {
    return 1 / a;
  }
};

struct SquareRoot {
  template <class T>
  T operator()(T a) const {
    return std::sqrt(a);
  }
};

struct Negate {
  template <class T>
  T operator()(T a) const {
    return -a;
  }
};

struct Absolute {
  template <class T>
  T operator()(T a) const {
    return std::fabs(a);
  }
};

template <class Op, class... In>
float settle_nan(float result, In...) {
  return canonical(result);
}
template <class Op>
double settle_nan(double result, double a) {
  return first_nan(result, a);
}
template <class Op>
double settle_nan(double result, double a, double b) {
  constexpr bool kSoftware = std::is_same_v<Op, Divide>;
  return kSoftware ? first_nan(result, a, b) : first_nan(result, b, a);
}
template <class Op>
double settle_nan(double result, double a, double b, double c) {
  return first_nan(result, b, c, a);
}

// Whether .ftz flushes the result of Op. It does if the result, rounded to 24
// bits as though exponents had no lower end, is below the normal numbers: one
// that only reaches 2^-126 by rounding to subnormal steps is flushed. (Seen on
// an H200, too.) So it is rounded again where there is room below.
template <class Op, class... In>
bool is_tiny(In... x) {
  const double wide = Op{}(static_cast<double>(x)...);
  return std::fabs(static_cast<float>(wide * 0x1p64)) < 0x1p-62f;
}

// d = Op(operands): the common cases in loops of their own.
template <class Op, class T, class... In>
void compute(FloatModifiers modifiers, uint32_t mask, T* out, const In*... in) {
  if constexpr (std::is_same_v<T, float>) {
    const bool sat = modifiers.saturate;
    if (modifiers.flush)
      return map_lanes(
          mask, out,
          [=](In... x) {
            const float result = canonical(Op{}(flush(x)...));
            const bool tiny = is_tiny<Op>(flush(x)...);
            const float flushed = tiny ? std::copysign(0.0f, result) : result;
            return sat ? saturate(flushed) : flushed;
          },
          in...);
    if (sat)
      return map_lanes(
          mask, out, [](In... x) { return saturate(Op{}(x...)); }, in...);
  }
  map_lanes(
      mask, out, [](In... x) { return settle_nan<Op>(Op{}(x...), x...); },
      in...);
}

template <class Op, class T>
void float_unary(Warp& w, const Instruction& i, uint32_t mask) {
  compute<Op>(i.modifiers, mask, lanes<T>(w, i.result(0)),
              static_cast<const T*>(lanes<T>(w, i.source(0))));
}

template <class Op, class T>
void float_binary(Warp& w, const Instruction& i, uint32_t mask) {
  compute<Op>(i.modifiers, mask, lanes<T>(w, i.result(0)),
              static_cast<const T*>(lanes<T>(w, i.source(0))),
              static_cast<const T*>(lanes<T>(w, i.source(1))));
}

template <class Op, class T>
void float_ternary(Warp& w, const Instruction& i, uint32_t mask) {
  compute<Op>(i.modifiers, mask, lanes<T>(w, i.result(0)),
              static_cast<const T*>(lanes<T>(w, i.source(0))),
              static_cast<const T*>(lanes<T>(w, i.source(1))),
              static_cast<const T*>(lanes<T>(w, i.source(2))));
}

// Handlers for f32 and f64, as rounded by the host and under RoundingScope.
struct Handlers {
  Handler nearest[2], directed[2];
};
template <template <class, class> class Shape, class Op>
constexpr Handlers handlers() {
  return {{Shape<Op, float>::run, Shape<Op, double>::run},
          {rounded<Shape<Op, float>::run>, rounded<Shape<Op, double>::run>}};
}

// Everything that takes a rounding.
struct Arithmetic {
  int operands;
  Handlers handlers;
};
template <class Op, class T>
struct Unary {
  static constexpr Handler run = float_unary<Op, T>;
};
template <class Op, class T>
struct Binary {
  static constexpr Handler run = float_binary<Op, T>;
};
template <class Op, class T>
struct Ternary {
  static constexpr Handler run = float_ternary<Op, T>;
};

constexpr Arithmetic kAdd = {2, handlers<Binary, Add>()};
constexpr Arithmetic kSubtract = {2, handlers<Binary, Subtract>()};
constexpr Arithmetic kMultiply = {2, handlers<Binary, Multiply>()};
constexpr Arithmetic kMultiplyAdd = {3, handlers<Ternary, MultiplyAdd>()};
constexpr Arithmetic kDivide = {2, handlers<Binary, Divide>()};
constexpr Arithmetic kReciprocal = {1, handlers<Unary, Reciprocal>()};
constexpr Arithmetic kSquareRoot = {1, handlers<Unary, SquareRoot>()};

void bind_alike(Decoding& d, int count) {
  const int n = d.type.bytes;
  d.bind(n, count > 1 ? n : 0, count > 2 ? n : 0);
}

bool is_double(const Decoding& d) { return d.type.bytes == 8; }

template <const Arithmetic& arithmetic>
void decode(Decoding& d) {
  d.ins.rounding = take_rounding(d);
  d.ins.modifiers = take_modifiers(d);
  bind_alike(d, arithmetic.operands);
  const Handlers& h = arithmetic.handlers;
  const bool nearest = d.ins.rounding == Rounding::kNearest;
  d.ins.run = (nearest ? h.nearest : h.directed)[is_double(d)];
}

// rcp, sqrt and div exist rounded (here) and approximate (another file).
template <const Arithmetic& arithmetic>
void decode_or_approximate(Decoding& d) {
  if (d.s.has("approx") || d.s.has("full"))
    return approximate_family().rules.at(d.s.name())(d);
  decode<arithmetic>(d);
}

// Sign operations are additions to the hardware: a single-precision NaN comes
// out canonical.
template <class Op>
void decode_sign(Decoding& d) {
  d.ins.modifiers = take_modifiers(d);
  bind_alike(d, 1);
  d.ins.run = is_double(d) ? float_unary<Op, double> : float_unary<Op, float>;
}

// The magnitude of b with the sign of a. Bits are moved, nothing computed: a
// NaN keeps its payload.
struct CopySign {
  template <class T>
  T operator()(T a, T b) const {
    return std::copysign(b, a);
  }
};

void decode_copysign(Decoding& d) {
  bind_alike(d, 2);
  d.ins.run = is_double(d) ? binary<CopySign, double> : binary<CopySign, float>;
}

template <class T>
Handler fused(Fused form) {
  return form == Fused::kSum            ? float_ternary<MultiplyAdd, T>
         : form == Fused::kMinusAddend  ? float_ternary<MultiplySubtract, T>
         : form == Fused::kMinusProduct ? float_ternary<SubtractProduct, T>
                                        : float_ternary<SubtractBoth, T>;
}

}  // namespace

Handler fused_handler(Type type, Fused form) {
  if (!type.is_float()) return fused_half_handler(type, form);
  return type.bytes == 8 ? fused<double>(form) : fused<float>(form);
}

const Family& float_family() {
  static const Family family = {
      "f",
      {{"add", decode<kAdd>},
       {"sub", decode<kSubtract>},
       {"mul", decode<kMultiply>},
       {"fma", decode<kMultiplyAdd>},
       {"mad", decode<kMultiplyAdd>},  // fused on every GPU since Fermi
       {"div", decode_or_approximate<kDivide>},
       {"rcp", decode_or_approximate<kReciprocal>},
       {"sqrt", decode_or_approximate<kSquareRoot>},
       {"neg", decode_sign<Negate>},
       {"abs", decode_sign<Absolute>},
       {"copysign", decode_copysign}}};
  return family;
}

}  // namespace simt
