// cvt: between integers, and between integers and floating formats.
//
// An integer may live in a register wider than its type: cvt.s32.s8 %r1, %r0
// takes the low byte of %r0, cvt.u8.u32 %rs1, %r0 fills 16 bits. The general
// way goes through 64-bit integers; where types and registers agree, which is
// nearly always, there is a direct one.
#include "common/simt/isa/arithmetic/convert.h"

#include <limits>

namespace simt {
namespace {

// The low `type.bytes` bytes of x, extended to 64 bits by the type's sign.
int64_t extend(uint64_t x, Type type) {
  const int spare = 64 - 8 * type.bytes;
  const uint64_t shifted = x << spare;
  return type.is_signed() ? int64_t(shifted) >> spare
                          : int64_t(shifted >> spare);
}

template <class T>
void load_integers(Warp& w, Place place, Type type, int64_t* x) {
  const T* from = lanes<T>(w, place);
  for (int l = 0; l < kLanes; ++l) x[l] = extend(from[l], type);
}

template <class T>
void store_integers(Warp& w, Place place, Type type, const int64_t* x,
                    uint32_t mask) {
  map_lanes(
      mask, lanes<T>(w, place), [=](int64_t x) { return T(extend(x, type)); },
      x);
}

// By the width of the register.
void read_integers(Warp& w, const Instruction& i, int64_t* x) {
  switch (i.from_bytes) {
    case 1:
      return load_integers<uint8_t>(w, i.source(0), i.from, x);
    case 2:
      return load_integers<uint16_t>(w, i.source(0), i.from, x);
    case 4:
      return load_integers<uint32_t>(w, i.source(0), i.from, x);
    case 8:
      return load_integers<uint64_t>(w, i.source(0), i.from, x);
  }
}

void write_integers(Warp& w, const Instruction& i, const int64_t* x,
                    uint32_t mask) {
  switch (i.to_bytes) {
    case 1:
      return store_integers<uint8_t>(w, i.result(0), i.to, x, mask);
    case 2:
      return store_integers<uint16_t>(w, i.result(0), i.to, x, mask);
    case 4:
      return store_integers<uint32_t>(w, i.result(0), i.to, x, mask);
    case 8:
      return store_integers<uint64_t>(w, i.result(0), i.to, x, mask);
  }
}

// The least and greatest number of a type, as far as int64_t goes.
int64_t least(Type t) {
  return t.is_signed() ? INT64_MIN >> (64 - 8 * t.bytes) : 0;
}
int64_t greatest(Type t) {
  const int bits = 8 * t.bytes - t.is_signed();
  return bits >= 63 ? INT64_MAX : (int64_t{1} << bits) - 1;
}

int64_t clamp(int64_t x, int64_t low, int64_t high) {
  return x < low ? low : x > high ? high : x;
}

// Between integers of any two types and registers.
void integer_to_integer(Warp& w, const Instruction& i, uint32_t mask) {
  int64_t x[kLanes];
  read_integers(w, i, x);
  const bool from_u64 = i.from == Type{'u', 8};
  if (i.modifiers.saturate && !(from_u64 && i.to == i.from)) {
    const int64_t low = least(i.to), high = greatest(i.to);
    for (int l = 0; l < kLanes; ++l) {
      // A u64 past the range of int64_t is past any other type's too.
      const int64_t value = from_u64 && x[l] < 0 ? INT64_MAX : x[l];
      x[l] = clamp(value, low, high);
    }
  }
  write_integers(w, i, x, mask);
}

struct Cast {
  template <class D, class S>
  static void run(Warp& w, const Instruction& i, uint32_t mask) {
    map_lanes(
        mask, lanes<D>(w, i.result(0)), [](S x) { return static_cast<D>(x); },
        static_cast<const S*>(lanes<S>(w, i.source(0))));
  }
};

// A direct conversion to D, or null.
template <class D>
Handler cast_to(Type from) {
  const bool with_sign = from.is_signed();
  switch (from.bytes) {
    case 2:
      return with_sign ? Cast::run<D, int16_t> : Cast::run<D, uint16_t>;
    case 4:
      return with_sign ? Cast::run<D, int32_t> : Cast::run<D, uint32_t>;
    case 8:
      return Cast::run<D, uint64_t>;
  }
  return nullptr;
}

Handler integer_cast(Type to, Type from) {
  switch (to.bytes) {
    case 2:
      return cast_to<uint16_t>(from);
    case 4:
      return cast_to<uint32_t>(from);
    case 8:
      return cast_to<uint64_t>(from);
  }
  return nullptr;
}

// Integers to f32 and f64, straight from registers to registers, so that they
// may run under RoundingScope. C++ rounds as IEEE 754 does, once.
template <class D>
Handler float_cast(Type from, bool directed) {
  using C = Cast;
  const bool with_sign = from.is_signed();
  if (from.bytes == 4) {
    if (directed)
      return with_sign ? rounded<C::run<D, int32_t>>
                       : rounded<C::run<D, uint32_t>>;
    return with_sign ? C::run<D, int32_t> : C::run<D, uint32_t>;
  }
  if (from.bytes == 8) {
    if (directed)
      return with_sign ? rounded<C::run<D, int64_t>>
                       : rounded<C::run<D, uint64_t>>;
    return with_sign ? C::run<D, int64_t> : C::run<D, uint64_t>;
  }
  return nullptr;
}

// 64 bits as a double, rounded to odd: the bits that do not fit leave a 1
// behind if any of them was set.
double integer_to_odd(int64_t x, bool is_signed) {
  const bool negative = is_signed && x < 0;
  const uint64_t magnitude = negative ? 0 - uint64_t(x) : uint64_t(x);
  const bool large = magnitude >> 53;
  const bool sticky = magnitude & 0x7ff;
  const uint64_t kept = (magnitude & ~uint64_t{0x7ff}) | uint64_t{sticky} << 11;
  const double value = large ? double(kept) : double(magnitude);
  return negative ? -value : value;
}

// Integers to any format: through a double, rounded to odd where 53 bits do
// not hold it, and rounded once more at the end.
template <class Format>
void integer_to_16(Warp& w, const Instruction& i, uint32_t mask) {
  int64_t x[kLanes];
  read_integers(w, i, x);
  const bool is_signed = i.from.is_signed(), sat = i.modifiers.saturate;
  const Rounding rounding = i.rounding;
  map_lanes(
      mask, lanes<uint16_t>(w, i.result(0)),
      [=](int64_t x) {
        const float value = narrow_to_odd(integer_to_odd(x, is_signed));
        return narrow_to<Format>(sat ? saturate(value) : value, rounding);
      },
      static_cast<const int64_t*>(x));
}

// 8- and 16-bit integers, which any format holds exactly, and .sat.
template <class D>
void small_to_float(Warp& w, const Instruction& i, uint32_t mask) {
  int64_t x[kLanes];
  read_integers(w, i, x);
  const bool sat = i.modifiers.saturate;
  const bool huge = i.from == Type{'u', 8};
  map_lanes(
      mask, lanes<D>(w, i.result(0)),
      [=](int64_t x) {
        if (!sat) return D(x);
        return D(huge ? x != 0 : clamp(x, 0, 1));
      },
      static_cast<const int64_t*>(x));
}

// Floating formats to integers: out of range gives the nearest number of the
// type. NaN gives 0, unless 64 bits are involved on either side: then only the
// top bit is set.
template <class D, class V>
D to_integer(V x, D nan) {
  constexpr int kBits = 8 * sizeof(D) - std::is_signed_v<D>;
  const V low = std::is_signed_v<D> ? V(std::numeric_limits<D>::min()) : V(0);
  const V high = V(uint64_t{1} << (kBits - 1)) * 2;  // one too many
  const bool below = x < low, above = x >= high, is_nan = x != x;
  const V safe = below | above | is_nan ? V(0) : x;
  D result;
  if constexpr (std::is_same_v<D, uint32_t>)
    result = static_cast<int64_t>(safe);
  else
    result = static_cast<D>(safe);
  result = below ? std::numeric_limits<D>::min() : result;
  result = above ? std::numeric_limits<D>::max() : result;
  return is_nan ? nan : result;
}

bool nan_sets_top_bit(const Instruction& i) {
  return i.from.bytes == 8 || i.to.bytes == 8;
}

// Rounds the operand to whole numbers first; truncation comes with the cast.
template <class From>
void read_whole(Warp& w, const Instruction& i, typename From::Value* x) {
  read_values<From>(w, i, x);
  if (i.rounding != Rounding::kToZero) round_to_integral(x, i.rounding);
}

template <class From, class D>
void float_to_integer(Warp& w, const Instruction& i, uint32_t mask) {
  using V = typename From::Value;
  V x[kLanes];
  read_whole<From>(w, i, x);
  const D nan = nan_sets_top_bit(i) ? D{1} << (8 * sizeof(D) - 1) : 0;
  map_lanes(
      mask, lanes<D>(w, i.result(0)),
      [=](V x) { return to_integer<D>(x, nan); }, static_cast<const V*>(x));
}

// To 8 and 16 bits, and to registers wider than the type.
template <class From>
void float_to_small(Warp& w, const Instruction& i, uint32_t mask) {
  typename From::Value x[kLanes];
  read_whole<From>(w, i, x);
  const int64_t low = least(i.to), high = greatest(i.to);
  const int64_t nan = nan_sets_top_bit(i) ? 1 << (8 * i.to.bytes - 1) : 0;
  int64_t result[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    const int64_t value = to_integer<int64_t>(x[l], int64_t{0});
    result[l] = x[l] != x[l] ? nan : clamp(value, low, high);
  }
  write_integers(w, i, result, mask);
}

template <class From>
Handler float_to(Type to, bool direct) {
  const bool with_sign = to.is_signed();
  if (direct && to.bytes == 4)
    return with_sign ? float_to_integer<From, int32_t>
                     : float_to_integer<From, uint32_t>;
  if (to.bytes == 8)
    return with_sign ? float_to_integer<From, int64_t>
                     : float_to_integer<From, uint64_t>;
  return float_to_small<From>;
}

Handler float_to_integer_of(Type to, Type from, bool direct) {
  switch (from.kind) {
    case 'h':
      return float_to<Half>(to, direct);
    case 'y':
      return float_to<BFloat>(to, direct);
    default:
      return from.bytes == 4 ? float_to<Single>(to, direct)
                             : float_to<Double>(to, direct);
  }
}

Handler integer_to_float(Type to, Type from, const Instruction& i,
                         bool direct) {
  if (to.is('h')) return integer_to_16<Half>;
  if (to.is('y')) return integer_to_16<BFloat>;
  const bool single = to.bytes == 4;
  const bool directed = i.rounding != Rounding::kNearest;
  if (direct && !i.modifiers.saturate && from.bytes >= 4)
    return single ? float_cast<float>(from, directed)
                  : float_cast<double>(from, directed);
  // Through 64 bits: one rounding to nearest, none at all below 32 bits.
  if (directed && from.bytes >= 4 && !i.modifiers.saturate) return nullptr;
  return single ? small_to_float<float> : small_to_float<double>;
}

// Width of the register behind an operand; an immediate is as wide as asked.
int register_width(Decoding& d, size_t index, int bytes) {
  const int width = d.operands.width(d.operand(index));
  return width ? width : bytes;
}

// cvt.rn.f16x2.f32, cvt.rna.tf32.f32
void decode_special(Decoding& d, Type to) {
  d.ins.modifiers = take_modifiers(d);
  d.ins.rounding = take_rounding(d);
  d.take_type();  // .f32
  if (d.take("tf32")) {
    d.bind(4);
    d.ins.run = convert_tf32(d.take("rna"), d.ins.modifiers.finite);
    return;
  }
  d.bind(4, 4);
  const bool nearest = d.ins.rounding == Rounding::kNearest;
  d.ins.run = convert_pair(to, nearest && d.ins.modifiers == FloatModifiers{});
}

// cvt.pack.sat.s16.s32 d, a, b: a becomes the upper half. With 8 bits a third
// operand, c, moves up by two bytes to make room.
void pack_integers(Warp& w, const Instruction& i, uint32_t mask) {
  const int64_t low = least(i.to), high = greatest(i.to);
  const int bits = 8 * i.to.bytes;
  const uint32_t field = (1u << bits) - 1;
  const bool has_c = i.to.bytes == 1;
  map_lanes(
      mask, lanes<uint32_t>(w, i.result(0)),
      [=](int32_t a, int32_t b, uint32_t c) {
        const uint32_t upper = clamp(a, low, high) & field;
        const uint32_t lower = clamp(b, low, high) & field;
        return (has_c ? c << 2 * bits : 0) | upper << bits | lower;
      },
      static_cast<const int32_t*>(lanes<int32_t>(w, i.source(0))),
      static_cast<const int32_t*>(lanes<int32_t>(w, i.source(1))),
      static_cast<const uint32_t*>(lanes<uint32_t>(w, i.source(2))));
}

void decode_pack(Decoding& d) {
  d.take("sat");
  d.ins.to = d.take_type();
  d.take_type();  // .s32
  const bool bytes = d.ins.to.bytes == 1;
  if (bytes) d.take_type();  // .b32
  d.bind(4, 4, bytes ? 4 : 0);
  if (!bytes) d.ins.read.push_back(d.ins.read[0]);  // any: it is not looked at
  d.ins.run = pack_integers;
}

void decode_cvt(Decoding& d) {
  if (d.take("pack")) return decode_pack(d);
  if (decode_eighths(d)) return;
  if (d.s.has("tf32")) return decode_special(d, {});
  const Type to = d.take_type();
  if (to.is('x') || to.is('z')) return decode_special(d, to);
  const Type from = d.take_type();
  Draft& ins = d.ins;
  ins.to = to;
  ins.from = from;
  ins.modifiers = take_modifiers(d);
  ins.rounding = take_rounding(d);
  if (const int whole = d.take_one({"rni", "rzi", "rmi", "rpi"}); whole >= 0) {
    ins.modifiers.integral = true;
    ins.rounding = static_cast<Rounding>(whole);
  }
  ins.to_bytes = register_width(d, 0, to.bytes);
  ins.from_bytes = register_width(d, 1, from.bytes);
  const bool direct = ins.to_bytes == to.bytes && ins.from_bytes == from.bytes;
  // ptxas drops .ftz here: the smallest f16 is far above f32's subnormals.
  if (to.is('h') && from == Type{'f', 4}) ins.modifiers.flush = false;
  d.bind(ins.from_bytes);
  if (to.is_integer() && from.is_integer()) {
    if (direct && !ins.modifiers.saturate) ins.run = integer_cast(to, from);
    if (!ins.run) ins.run = integer_to_integer;
  } else if (to.is_integer()) {
    ins.run = float_to_integer_of(to, from, direct);
  } else if (from.is_integer()) {
    ins.run = integer_to_float(to, from, ins, direct);
  } else {
    ins.run = convert_float(to, from, ins.rounding, ins.modifiers);
  }
}

}  // namespace

const Family& convert_family() {
  static const Family family = {"", {{"cvt", decode_cvt}}};
  return family;
}

}  // namespace simt
