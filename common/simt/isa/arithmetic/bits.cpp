// Counting and finding bits, bit fields, and dot products of bytes.
#include <bit>

#include "common/simt/isa/arithmetic/decode.h"

namespace simt {
namespace {

struct CountOnes {
  template <class T>
  uint32_t operator()(T a) const {
    return std::popcount(a);
  }
};

struct CountLeadingZeros {
  template <class T>
  uint32_t operator()(T a) const {
    return std::countl_zero(a);
  }
};

// The highest bit that differs from the sign; ~0 if there is none.
struct FindHighest {
  template <class T>
  uint32_t operator()(T a) const {
    constexpr int kTop = 8 * sizeof(T) - 1;
    const auto differing = Unsigned<T>(a < 0 ? ~a : a);
    return kTop - std::countl_zero(differing);
  }
};

// The left shift that would bring that bit to the top.
struct FindShift {
  template <class T>
  uint32_t operator()(T a) const {
    const uint32_t found = FindHighest{}(a);
    return found == ~0u ? found : uint32_t{8 * sizeof(T) - 1} - found;
  }
};

struct Reverse {
  template <class T>
  T operator()(T a) const {
    constexpr T kAll = ~T(0);
    for (unsigned step = 4 * sizeof(T); step; step /= 2) {
      const T low = kAll / ((T(1) << step) + 1);  // 0x0000FFFF, 0x00FF00FF, ...
      a = (a >> step & low) | (a & low) << step;
    }
    return a;
  }
};

// Bit fields. With 32 bits, only the low bytes of start and length count. With
// 64 bits ptxas writes shifts in their place, which look at all of them.
template <class T>
uint32_t field_bound(uint32_t x) {
  return sizeof(T) == 4 ? x & 255 : x;
}

// bfe: `length` bits from bit `start` on, extended by their highest. Bits past
// the end of a signed number are its sign.
struct ExtractField {
  template <class T>
  T operator()(T a, uint32_t start, uint32_t length) const {
    constexpr uint32_t kBits = 8 * sizeof(T);
    using U = Unsigned<T>;
    start = field_bound<T>(start);
    length = field_bound<T>(length);
    const bool past = start >= kBits;
    T field = a >> (past ? kBits - 1 : start);
    if (past && T(-1) > T(0)) field = 0;
    const uint32_t spare = length < kBits ? kBits - length : 0;
    const T extended =
        T(U(field) << (spare & (kBits - 1))) >> (spare & (kBits - 1));
    return length == 0 ? T(0) : extended;
  }
};

// A word whose lowest n bits are set.
template <class T>
T low_bits(uint32_t n) {
  constexpr uint32_t kBits = 8 * sizeof(T);
  return n < kBits ? (T(1) << (n & (kBits - 1))) - 1 : ~T(0);
}

struct InsertField {  // bfi
  template <class T>
  T operator()(T a, T b, uint32_t start, uint32_t length) const {
    constexpr uint32_t kBits = 8 * sizeof(T);
    start = field_bound<T>(start);
    const T field = low_bits<T>(field_bound<T>(length));
    const uint32_t by = start & (kBits - 1);
    const T inserted = (b & ~T(field << by)) | T((a & field) << by);
    return start < kBits ? inserted : b;
  }
};

// bmsk: `length` ones from bit `start` on.
template <bool kWrap>
struct MakeMask {
  uint32_t operator()(uint32_t start, uint32_t length) const {
    if (kWrap) {
      start &= 31;
      length &= 31;
    }
    return start < 32 ? low_bits<uint32_t>(length) << (start & 31) : 0;
  }
};

// szext: the low n bits, extended. Clamped, n of 32 or more is all of them;
// no bits at all give 0.
template <bool kWrap>
struct Extend {
  template <class T>
  T operator()(T a, uint32_t n) const {
    if (kWrap) n &= 31;
    const uint32_t spare = n < 32 ? (32 - n) & 31 : 0;
    const T extended = T(uint32_t(a) << spare) >> spare;
    return n == 0 ? T(0) : extended;
  }
};

// fns: the n-th set bit from `base` upwards (n > 0) or downwards (n < 0);
// n = 0 asks whether bit `base` is set. ~0: not found.
struct FindNthSet {
  uint32_t operator()(uint32_t bits, uint32_t base, int32_t n) const {
    if (n == 0) return base < 32 && bits >> base & 1 ? base : ~0u;
    const int step = n > 0 ? 1 : -1;
    for (int64_t at = base; at >= 0 && at < 32; at += step) {
      if (!(bits >> at & 1)) continue;
      n -= step;
      if (n == 0) return at;
    }
    return ~0u;
  }
};

// Byte or half-word k of a word, as a number.
template <class Element>
int32_t element(uint32_t word, int k) {
  return Element(word >> (8 * sizeof(Element) * k));
}

template <class A, class B>
struct DotOfBytes {  // dp4a
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    for (int k = 0; k < 4; ++k) c += element<A>(a, k) * element<B>(b, k);
    return c;
  }
};

template <class A, class B, int kFirst>
struct DotOfHalves {  // dp2a: the low or high two bytes of b
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    for (int k = 0; k < 2; ++k)
      c += element<A>(a, k) * element<B>(b, k + kFirst);
    return c;
  }
};

template <class Op>
Handler count_of(Type t) {
  if (t.bytes == 4) return unary<Op, uint32_t, uint32_t>;
  if (t.bytes == 8) return unary<Op, uint32_t, uint64_t>;
  return nullptr;
}

template <class Op>
Handler signed_count_of(Type t) {
  if (t.bytes == 4) return unary<Op, uint32_t, int32_t>;
  if (t.bytes == 8) return unary<Op, uint32_t, int64_t>;
  return nullptr;
}

template <class Op>
void decode_count(Decoding& d) {
  d.bind(d.type.bytes);
  d.ins.run = count_of<Op>(d.type);
}

template <class Op>
void decode_find(Decoding& d) {
  d.bind(d.type.bytes);
  d.ins.run =
      d.type.is_signed() ? signed_count_of<Op>(d.type) : count_of<Op>(d.type);
}

void decode_bfind(Decoding& d) {
  if (d.take("shiftamt"))
    decode_find<FindShift>(d);
  else
    decode_find<FindHighest>(d);
}

void decode_brev(Decoding& d) {
  d.bind(d.type.bytes);
  if (d.type.bytes == 4) d.ins.run = unary<Reverse, uint32_t>;
  if (d.type.bytes == 8) d.ins.run = unary<Reverse, uint64_t>;
}

template <class T>
constexpr Handler kExtract = ternary<ExtractField, T, T, uint32_t, uint32_t>;

void decode_bfe(Decoding& d) {
  d.bind(d.type.bytes, 4, 4);
  const bool with_sign = d.type.is_signed();
  if (d.type.bytes == 4)
    d.ins.run = with_sign ? kExtract<int32_t> : kExtract<uint32_t>;
  if (d.type.bytes == 8)
    d.ins.run = with_sign ? kExtract<int64_t> : kExtract<uint64_t>;
}

template <class T>
void insert_field(Warp& w, const Instruction& i, uint32_t mask) {
  map_lanes(mask, lanes<T>(w, i.result(0)), InsertField{},
            lanes<T>(w, i.source(0)), lanes<T>(w, i.source(1)),
            lanes<uint32_t>(w, i.source(2)), lanes<uint32_t>(w, i.source(3)));
}

void decode_bfi(Decoding& d) {
  d.bind(d.type.bytes, d.type.bytes, 4, 4);
  if (d.type.bytes == 4) d.ins.run = insert_field<uint32_t>;
  if (d.type.bytes == 8) d.ins.run = insert_field<uint64_t>;
}

void decode_bmsk(Decoding& d) {
  d.bind(4, 4);
  d.ins.run = d.take_one({"clamp", "wrap"}) ? binary<MakeMask<true>, uint32_t>
                                            : binary<MakeMask<false>, uint32_t>;
}

template <bool kWrap>
Handler extend(Type t) {
  return t.is_signed() ? binary<Extend<kWrap>, int32_t, int32_t, uint32_t>
                       : binary<Extend<kWrap>, uint32_t>;
}

void decode_szext(Decoding& d) {
  d.bind(4, 4);
  d.ins.run = d.take_one({"clamp", "wrap"}) ? extend<true>(d.type)
                                            : extend<false>(d.type);
}

void find_nth_set(Warp& w, const Instruction& i, uint32_t mask) {
  each_lane(mask, lanes<uint32_t>(w, i.result(0)), FindNthSet{},
            lanes<uint32_t>(w, i.source(0)), lanes<uint32_t>(w, i.source(1)),
            lanes<int32_t>(w, i.source(2)));
}

void decode_fns(Decoding& d) {
  d.bind(4, 4, 4);
  d.ins.run = find_nth_set;
}

// Which of four handlers: signs of a and b.
Handler by_two_signs(Type a, Type b, const Handler (&handlers)[4]) {
  return handlers[2 * a.is_signed() + b.is_signed()];
}

void decode_dp4a(Decoding& d) {
  d.bind(4, 4, 4);
  const Type a = d.take_type();
  d.ins.run = by_two_signs(a, d.type,
                           {ternary<DotOfBytes<uint8_t, uint8_t>, uint32_t>,
                            ternary<DotOfBytes<uint8_t, int8_t>, uint32_t>,
                            ternary<DotOfBytes<int8_t, uint8_t>, uint32_t>,
                            ternary<DotOfBytes<int8_t, int8_t>, uint32_t>});
}

template <int kFirst>
Handler dot_of_halves(Type a, Type b) {
  return by_two_signs(
      a, b,
      {ternary<DotOfHalves<uint16_t, uint8_t, kFirst>, uint32_t>,
       ternary<DotOfHalves<uint16_t, int8_t, kFirst>, uint32_t>,
       ternary<DotOfHalves<int16_t, uint8_t, kFirst>, uint32_t>,
       ternary<DotOfHalves<int16_t, int8_t, kFirst>, uint32_t>});
}

void decode_dp2a(Decoding& d) {
  d.bind(4, 4, 4);
  const Type a = d.take_type();
  d.ins.run = d.take_one({"lo", "hi"}) ? dot_of_halves<2>(a, d.type)
                                       : dot_of_halves<0>(a, d.type);
}

}  // namespace

const Family& bits_family() {
  static const Family family = {"usb",
                                {{"popc", decode_count<CountOnes>},
                                 {"clz", decode_count<CountLeadingZeros>},
                                 {"bfind", decode_bfind},
                                 {"brev", decode_brev},
                                 {"bfe", decode_bfe},
                                 {"bfi", decode_bfi},
                                 {"bmsk", decode_bmsk},
                                 {"szext", decode_szext},
                                 {"fns", decode_fns},
                                 {"dp4a", decode_dp4a},
                                 {"dp2a", decode_dp2a}}};
  return family;
}

}  // namespace simt
