// Integer addition, multiplication, division, and what is made of them.
#include <type_traits>

#include "common/simt/isa/arithmetic/decode.h"
#include "common/simt/observe/observers.h"

namespace simt {
namespace {

// Twice as wide, of the same sign.
template <class T>
struct WideOf;
template <>
struct WideOf<uint16_t> {
  using type = uint32_t;
};
template <>
struct WideOf<int16_t> {
  using type = int32_t;
};
template <>
struct WideOf<uint32_t> {
  using type = uint64_t;
};
template <>
struct WideOf<int32_t> {
  using type = int64_t;
};
template <>
struct WideOf<uint64_t> {
  using type = unsigned __int128;
};
template <>
struct WideOf<int64_t> {
  using type = __int128;
};
template <class T>
using Wide = typename WideOf<T>::type;

// Sums and products wrap: computed on unsigned values, where C++ lets them.
// (1u * keeps uint16_t from becoming int, whose product may overflow.)
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

struct MultiplyLow {
  template <class T>
  T operator()(T a, T b) const {
    return 1u * a * b;
  }
};

struct MultiplyHigh {
  template <class T>
  T operator()(T a, T b) const {
    return (Wide<T>{a} * Wide<T>{b}) >> (8 * sizeof(T));
  }
};

struct MultiplyWide {
  template <class T>
  Wide<T> operator()(T a, T b) const {
    return Wide<T>{a} * Wide<T>{b};
  }
};

struct MultiplyAddLow {
  template <class T>
  T operator()(T a, T b, T c) const {
    using U = Unsigned<T>;
    return static_cast<U>(1u * U(a) * U(b) + U(c));
  }
};

struct MultiplyAddHigh {
  template <class T>
  T operator()(T a, T b, T c) const {
    using U = Unsigned<T>;
    return static_cast<U>(U(MultiplyHigh{}(a, b)) + U(c));
  }
};

struct MultiplyAddWide {
  template <class T>
  Wide<T> operator()(T a, T b, Wide<T> c) const {
    using U = Unsigned<Wide<T>>;
    return static_cast<U>(U(MultiplyWide{}(a, b)) + U(c));
  }
};

int32_t saturate(int64_t x) {
  const int64_t low = INT32_MIN, high = INT32_MAX;
  return x < low ? low : x > high ? high : x;
}

struct AddSaturating {
  int32_t operator()(int32_t a, int32_t b) const {
    return saturate(int64_t{a} + b);
  }
};

struct SubtractSaturating {
  int32_t operator()(int32_t a, int32_t b) const {
    return saturate(int64_t{a} - b);
  }
};

struct MultiplyAddHighSaturating {
  int32_t operator()(int32_t a, int32_t b, int32_t c) const {
    return saturate(int64_t{MultiplyHigh{}(a, b)} + c);
  }
};

// The 48-bit product of the low 24 bits: its bits 0-31, or 16-47.
template <class T>
Wide<T> product24(T a, T b) {
  const auto low24 = [](T x) { return T(Unsigned<T>(x) << 8) >> 8; };
  return MultiplyWide{}(low24(a), low24(b));
}

struct Multiply24Low {
  template <class T>
  T operator()(T a, T b) const {
    return product24(a, b);
  }
};

struct Multiply24High {
  template <class T>
  T operator()(T a, T b) const {
    return product24(a, b) >> 16;
  }
};

template <class Product>
struct PlusC {
  template <class T>
  T operator()(T a, T b, T c) const {
    using U = Unsigned<T>;
    return U(Product{}(a, b)) + U(c);
  }
};

struct MultiplyAdd24HighSaturating {
  int32_t operator()(int32_t a, int32_t b, int32_t c) const {
    return saturate(int64_t{Multiply24High{}(a, b)} + c);
  }
};

struct SumOfDifferences {  // sad: |a - b| + c
  template <class T>
  T operator()(T a, T b, T c) const {
    using U = Unsigned<T>;
    return static_cast<U>((a < b ? U(b) - U(a) : U(a) - U(b)) + U(c));
  }
};

// What PTX leaves open, ptxas settles, at every width and for both signs:
// dividing by 0 gives all ones, as quotient and as remainder. The most
// negative number divided by -1 wraps around to itself.
//
// 32 bits and less go through double, which divides eight lanes at once and
// is exact here: a true quotient is either whole or at least 1/b >= 2^-32
// away from the next whole number, the rounding error below 2^-53 * 2^32.
struct Divide {
  template <class T>
  T operator()(T a, T b) const {
    const T divisor = b == 0 ? 1 : b;
    if constexpr (sizeof(T) == 8) {
      const bool wraps = std::is_signed_v<T> && b == T(-1);
      const T quotient =
          wraps ? T(0 - Unsigned<T>(a)) : T(a / (wraps ? 1 : divisor));
      return b == 0 ? T(-1) : quotient;
    } else {
      const T quotient = static_cast<int64_t>(double(a) / double(divisor));
      return b == 0 ? T(-1) : quotient;
    }
  }
};

struct Remainder {
  template <class T>
  T operator()(T a, T b) const {
    using U = Unsigned<T>;
    const U rest = U(a) - 1u * U(Divide{}(a, b)) * U(b);
    return b == 0 ? T(-1) : T(rest);
  }
};

struct Negate {
  template <class T>
  T operator()(T a) const {
    return 0 - a;
  }
};

struct Absolute {
  template <class T>
  T operator()(T a) const {
    return a >> (8 * sizeof(T) - 1) ? 0 - a : a;
  }
};

struct Minimum {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? a : b;
  }
};

struct Maximum {
  template <class T>
  T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};

template <class Op>
struct NotNegative {  // .relu
  template <class T>
  T operator()(T a, T b) const {
    return Maximum{}(Op{}(a, b), T(0));
  }
};

// Two 16-bit numbers in 32 bits: lanes twice as many and half as wide.
template <class Op, class T>
void paired(Warp& w, const Instruction& i, uint32_t mask) {
  map_lanes<2>(mask, lanes<T>(w, i.result(0)), Op{}, lanes<T>(w, i.source(0)),
               lanes<T>(w, i.source(1)));
}

template <class Op>
Handler paired_by_sign(Type t) {
  return t.is_signed() ? paired<Op, int16_t> : paired<Op, uint16_t>;
}

// Sums with the carry flag: a - b is a + ~b + 1, so a subtraction sets it where
// it does not borrow, and `subc` borrows where it is not set. PTX calls it a
// borrow, which makes a difference where `addc` follows `sub.cc`.
template <class T, bool subtracts>
void carry_on(Warp& w, const Instruction& i, uint32_t mask, const T* a,
              const T* b) {
  const uint32_t carry_in = i.takes_carry ? w.carry : subtracts ? kAllLanes : 0;
  T result[kLanes];
  uint32_t carry_out = 0;
  for (int l = 0; l < kLanes; ++l) {
    const T in = carry_in >> l & 1;
    T partial;
    bool out =
        __builtin_add_overflow(a[l], subtracts ? T(~b[l]) : b[l], &partial);
    out |= __builtin_add_overflow(partial, in, &result[l]);
    carry_out |= uint32_t{out} << l;
  }
  if (i.result(0) != kNowhere)
    blend_lanes(lanes<T>(w, i.result(0)), result, mask);
  if (i.gives_carry) w.carry = (w.carry & ~mask) | (carry_out & mask);
}

template <class T, bool subtracts>
void sum_with_carry(Warp& w, const Instruction& i, uint32_t mask) {
  carry_on<T, subtracts>(w, i, mask, lanes<T>(w, i.source(0)),
                         lanes<T>(w, i.source(1)));
}

// The low or high half of a product, and c.
template <class Half, class T>
void product_with_carry(Warp& w, const Instruction& i, uint32_t mask) {
  using U = Unsigned<T>;
  U product[kLanes];
  map_lanes(kAllLanes, product, Half{}, lanes<T>(w, i.source(0)),
            lanes<T>(w, i.source(1)));
  carry_on<U, false>(w, i, mask, product, lanes<U>(w, i.source(2)));
}

void take_carry(Decoding& d, bool in) {
  d.ins.takes_carry = in;
  d.ins.gives_carry = d.take("cc");
}

template <bool subtracts>
void decode_sum_with_carry(Decoding& d, bool in) {
  take_carry(d, in);
  const int n = d.type.bytes;
  d.bind(n, n);
  d.ins.run = n == 4 ? sum_with_carry<uint32_t, subtracts>
                     : sum_with_carry<uint64_t, subtracts>;
}

template <class Half>
Handler product_of(Type t) {
  if (t.bytes == 4)
    return t.is_signed() ? product_with_carry<Half, int32_t>
                         : product_with_carry<Half, uint32_t>;
  return t.is_signed() ? product_with_carry<Half, int64_t>
                       : product_with_carry<Half, uint64_t>;
}

void decode_product_with_carry(Decoding& d, bool in) {
  take_carry(d, in);
  const int n = d.type.bytes;
  d.bind(n, n, n);
  const Type unsigned_type{'u', d.type.bytes};
  d.ins.run = d.take_one({"lo", "hi"}) ? product_of<MultiplyHigh>(d.type)
                                       : product_of<MultiplyLow>(unsigned_type);
}

void bind_alike(Decoding& d, int count) {
  const int n = d.type.bytes;
  d.bind(n, count > 1 ? n : 0, count > 2 ? n : 0);
}

// add and sub: plain, saturating, with carry, in pairs.
template <class Op, class Saturating, bool subtracts>
void decode_sum(Decoding& d) {
  if (d.s.has("cc")) return decode_sum_with_carry<subtracts>(d, false);
  if (d.take("x2")) {
    d.bind(4, 4);
    d.ins.run = paired<Op, uint16_t>;
    return;
  }
  bind_alike(d, 2);
  d.ins.run =
      d.take("sat") ? binary<Saturating, int32_t> : binary_of_width<Op>(d.type);
}

void decode_addc(Decoding& d) { decode_sum_with_carry<false>(d, true); }
void decode_subc(Decoding& d) { decode_sum_with_carry<true>(d, true); }
void decode_madc(Decoding& d) { decode_product_with_carry(d, true); }

enum Part { kLow, kUpper, kWhole };
Part take_part(Decoding& d) {
  return static_cast<Part>(d.take_one({"lo", "hi", "wide"}));
}

Handler multiply_wide(Type t) {
  if (t.bytes == 2)
    return t.is_signed() ? binary<MultiplyWide, int32_t, int16_t>
                         : binary<MultiplyWide, uint32_t, uint16_t>;
  if (t.bytes == 4)
    return t.is_signed() ? binary<MultiplyWide, int64_t, int32_t>
                         : binary<MultiplyWide, uint64_t, uint32_t>;
  return nullptr;
}

Handler multiply_add_wide(Type t) {
  if (t.bytes == 2)
    return t.is_signed() ? ternary<MultiplyAddWide, int32_t, int16_t>
                         : ternary<MultiplyAddWide, uint32_t, uint16_t>;
  if (t.bytes == 4)
    return t.is_signed() ? ternary<MultiplyAddWide, int64_t, int32_t>
                         : ternary<MultiplyAddWide, uint64_t, uint32_t>;
  return nullptr;
}

void decode_mul(Decoding& d) {
  bind_alike(d, 2);
  switch (take_part(d)) {
    case kLow:
      d.ins.run = binary_of_width<MultiplyLow>(d.type);
      break;
    case kUpper:
      d.ins.run = binary_by_sign<MultiplyHigh>(d.type);
      break;
    case kWhole:
      d.ins.run = multiply_wide(d.type);
      break;
  }
}

void decode_mad(Decoding& d) {
  if (d.s.has("cc")) return decode_product_with_carry(d, false);
  const Part part = take_part(d);
  const int n = d.type.bytes;
  d.bind(n, n, part == kWhole ? 2 * n : n);
  if (d.take("sat")) {
    d.ins.run = ternary<MultiplyAddHighSaturating, int32_t>;
    return;
  }
  const Type unsigned_type{'u', d.type.bytes};
  switch (part) {
    case kLow:
      d.ins.run = ternary_by_sign<MultiplyAddLow>(unsigned_type);
      break;
    case kUpper:
      d.ins.run = ternary_by_sign<MultiplyAddHigh>(d.type);
      break;
    case kWhole:
      d.ins.run = multiply_add_wide(d.type);
      break;
  }
}

Handler by_sign(Type t, Handler with_sign, Handler without) {
  return t.is_signed() ? with_sign : without;
}

void decode_mul24(Decoding& d) {
  bind_alike(d, 2);
  d.ins.run = d.take_one({"lo", "hi"})
                  ? by_sign(d.type, binary<Multiply24High, int32_t>,
                            binary<Multiply24High, uint32_t>)
                  : by_sign(d.type, binary<Multiply24Low, int32_t>,
                            binary<Multiply24Low, uint32_t>);
}

void decode_mad24(Decoding& d) {
  bind_alike(d, 3);
  const bool high = d.take_one({"lo", "hi"});
  if (d.take("sat"))
    d.ins.run = ternary<MultiplyAdd24HighSaturating, int32_t>;
  else if (high)
    d.ins.run = by_sign(d.type, ternary<PlusC<Multiply24High>, int32_t>,
                        ternary<PlusC<Multiply24High>, uint32_t>);
  else
    d.ins.run = by_sign(d.type, ternary<PlusC<Multiply24Low>, int32_t>,
                        ternary<PlusC<Multiply24Low>, uint32_t>);
}

void decode_sad(Decoding& d) {
  bind_alike(d, 3);
  d.ins.run = ternary_by_sign<SumOfDifferences>(d.type);
}

template <class Op, class T>
void quotient(Warp& w, const Instruction& i, uint32_t mask) {
  const uint32_t by_zero =
      mask & lanes_where([](T b) { return b == 0; }, lanes<T>(w, i.source(1)));
  binary<Op, T>(w, i, mask);
  if (by_zero) observe::divided_by_zero(w, i, by_zero);
}

template <class Op>
Handler quotient_of(Type t) {
  switch (t.bytes) {
    case 2:
      return t.is_signed() ? quotient<Op, int16_t> : quotient<Op, uint16_t>;
    case 4:
      return t.is_signed() ? quotient<Op, int32_t> : quotient<Op, uint32_t>;
    case 8:
      return t.is_signed() ? quotient<Op, int64_t> : quotient<Op, uint64_t>;
  }
  return nullptr;
}

template <class Op>
void decode_quotient(Decoding& d) {
  bind_alike(d, 2);
  d.ins.run = quotient_of<Op>(d.type);
}

template <class Op>
void decode_sign(Decoding& d) {
  bind_alike(d, 1);
  d.ins.run = unary_of_width<Op>(d.type);
}

template <class Op>
void decode_extreme(Decoding& d) {
  const bool relu = d.take("relu");
  if (d.take("x2")) {
    d.bind(4, 4);
    d.ins.run =
        relu ? paired<NotNegative<Op>, int16_t> : paired_by_sign<Op>(d.type);
    return;
  }
  bind_alike(d, 2);
  d.ins.run =
      relu ? binary<NotNegative<Op>, int32_t> : binary_by_sign<Op>(d.type);
}

}  // namespace

const Family& integer_family() {
  static const Family family = {
      "us",
      {{"add", decode_sum<Add, AddSaturating, false>},
       {"sub", decode_sum<Subtract, SubtractSaturating, true>},
       {"addc", decode_addc},
       {"subc", decode_subc},
       {"mul", decode_mul},
       {"mad", decode_mad},
       {"madc", decode_madc},
       {"mul24", decode_mul24},
       {"mad24", decode_mad24},
       {"sad", decode_sad},
       {"div", decode_quotient<Divide>},
       {"rem", decode_quotient<Remainder>},
       {"neg", decode_sign<Negate>},
       {"abs", decode_sign<Absolute>},
       {"min", decode_extreme<Minimum>},
       {"max", decode_extreme<Maximum>}}};
  return family;
}

}  // namespace simt
