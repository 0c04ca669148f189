// Bitwise logic, on integers and on predicates, and shifts.
#include <algorithm>
#include <type_traits>

#include "common/simt/core/literals.h"
#include "common/simt/isa/arithmetic_decode.h"

namespace simt {
namespace {

struct And {
  template <class T>
  T operator()(T a, T b) const {
    return a & b;
  }
};

struct Or {
  template <class T>
  T operator()(T a, T b) const {
    return a | b;
  }
};

struct Xor {
  template <class T>
  T operator()(T a, T b) const {
    return a ^ b;
  }
};

struct Not {
  template <class T>
  T operator()(T a) const {
    return ~a;
  }
};

struct IsZero {  // cnot
  template <class T>
  T operator()(T a) const {
    return a == 0;
  }
};

// Shifts by the width or more leave nothing (or the sign), where C++ and the
// host leave anything.
struct ShiftLeft {
  template <class T>
  T operator()(T a, uint32_t n) const {
    constexpr uint32_t kBits = 8 * sizeof(T);
    return n < kBits ? T(a << (n & (kBits - 1))) : T(0);
  }
};

struct ShiftRight {
  template <class T>
  T operator()(T a, uint32_t n) const {
    constexpr uint32_t kBits = 8 * sizeof(T);
    if constexpr (std::is_signed_v<T>)
      return a >> (n < kBits ? n : kBits - 1);
    else
      return n < kBits ? T(a >> (n & (kBits - 1))) : T(0);
  }
};

// Funnel shifts: 32 bits out of the 64 of b:a, moved by up to 32.
template <bool kWrap>
uint32_t funnel_amount(uint32_t n) {
  return kWrap ? n & 31 : std::min(n, 32u);
}

template <bool kWrap>
struct FunnelLeft {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t n) const {
    return ((uint64_t{b} << 32 | a) << funnel_amount<kWrap>(n)) >> 32;
  }
};

template <bool kWrap>
struct FunnelRight {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t n) const {
    return (uint64_t{b} << 32 | a) >> funnel_amount<kWrap>(n);
  }
};

// Any function of three bits, from its truth table: bit 4a + 2b + c of the
// table is the result. Halving the table by c, then b, then a, takes seven
// selections; zero[k] and flip[k] hold what to select for the pair k of c.
struct Lop3 {
  uint32_t zero[4], flip[4];
  explicit Lop3(uint8_t table) {
    for (int k = 0; k < 4; ++k) {
      zero[k] = table >> (2 * k) & 1 ? ~0u : 0;
      flip[k] = zero[k] ^ (table >> (2 * k + 1) & 1 ? ~0u : 0);
    }
  }
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    const auto of_pair = [&](int k) { return zero[k] ^ (c & flip[k]); };
    const uint32_t low = (~b & of_pair(0)) | (b & of_pair(1));
    const uint32_t high = (~b & of_pair(2)) | (b & of_pair(3));
    return (~a & low) | (a & high);
  }
};

enum Bool : uint8_t { kNone, kAnd, kOr, kXor };

uint32_t combine(uint8_t with, uint32_t a, uint32_t b) {
  switch (with) {
    case kAnd:
      return a & b;
    case kOr:
      return a | b;
    case kXor:
      return a ^ b;
  }
  return a;
}

// mode: how (result != 0) is combined with predicate d, for d|p.
void lop3(Warp& w, const Instruction& i, uint32_t mask) {
  uint32_t result[kLanes];
  map_lanes(kAllLanes, result, Lop3(i.lut), lanes<uint32_t>(w, i.a),
            lanes<uint32_t>(w, i.b), lanes<uint32_t>(w, i.c));
  if (i.dst != kNowhere) blend_lanes(lanes<uint32_t>(w, i.dst), result, mask);
  if (i.mode == kNone) return;
  const uint32_t set = lanes_where([](uint32_t x) { return x != 0; },
                                   static_cast<const uint32_t*>(result));
  const uint32_t other = read_predicate(w, i.d, i.c_negated);
  write_predicate(w, i.dst2, combine(i.mode, set, other), mask);
}

// The logic of predicates works on 32 lanes at once. flags: bit 0 negates a,
// bit 1 negates b.
void predicate_logic(Warp& w, const Instruction& i, uint32_t mask) {
  const uint32_t a = read_predicate(w, i.a, i.flags & 1);
  const uint32_t b = i.mode == kNone ? 0 : read_predicate(w, i.b, i.flags & 2);
  write_predicate(w, i.dst, combine(i.mode, a, b), mask);
}

void decode_predicate_logic(Decoding& d, Bool how, bool negate = false) {
  bool negated = false;
  d.ins.mode = how;
  d.ins.dst = d.operands.predicate(d.operand(0).text);
  d.ins.a = d.predicate(1, negated);
  d.ins.flags = negated != negate;
  if (how != kNone) {
    d.ins.b = d.predicate(2, negated);
    d.ins.flags |= negated << 1;
  }
  d.ins.run = predicate_logic;
}

template <class Op, Bool kHow>
void decode_logic(Decoding& d) {
  if (d.type.is('p')) return decode_predicate_logic(d, kHow);
  d.bind(d.type.bytes, d.type.bytes);
  d.ins.run = binary_of_width<Op>(d.type);
}

void decode_not(Decoding& d) {
  if (d.type.is('p')) return decode_predicate_logic(d, kNone, true);
  d.bind(d.type.bytes);
  d.ins.run = unary_of_width<Not>(d.type);
}

void decode_cnot(Decoding& d) {
  d.bind(d.type.bytes);
  d.ins.run = unary_of_width<IsZero>(d.type);
}

// The amount has 32 bits whatever is shifted.
template <class Op, class T16, class T32, class T64>
Handler shift_of_width(Type t) {
  switch (t.bytes) {
    case 2:
      return binary<Op, T16, T16, uint32_t>;
    case 4:
      return binary<Op, T32, T32, uint32_t>;
    case 8:
      return binary<Op, T64, T64, uint32_t>;
  }
  return nullptr;
}

void decode_shl(Decoding& d) {
  d.bind(d.type.bytes, 4);
  d.ins.run = shift_of_width<ShiftLeft, uint16_t, uint32_t, uint64_t>(d.type);
}

void decode_shr(Decoding& d) {
  d.bind(d.type.bytes, 4);
  d.ins.run =
      d.type.is_signed()
          ? shift_of_width<ShiftRight, int16_t, int32_t, int64_t>(d.type)
          : shift_of_width<ShiftRight, uint16_t, uint32_t, uint64_t>(d.type);
}

void decode_shf(Decoding& d) {
  const int direction = d.take_one({"l", "r"});
  const int wrap = d.take_one({"clamp", "wrap"});
  if (direction < 0 || wrap < 0 || d.type.bytes != 4) d.unsupported();
  static constexpr Handler kHandlers[2][2] = {
      {ternary<FunnelLeft<false>, uint32_t>,
       ternary<FunnelLeft<true>, uint32_t>},
      {ternary<FunnelRight<false>, uint32_t>,
       ternary<FunnelRight<true>, uint32_t>}};
  d.bind(4, 4, 4);
  d.ins.run = kHandlers[direction][wrap];
}

void decode_lop3(Decoding& d) {
  d.bind(4, 4, 4);
  d.ins.lut = parse_count(d.operand(4).text, 255);
  const int how = d.take_one({"and", "or", "xor"});
  if (how >= 0) {
    d.ins.mode = kAnd + how;
    d.ins.d = d.predicate(5, d.ins.c_negated);
  }
  d.ins.run = lop3;
}

}  // namespace

const Family& logic_family() {
  static const Family family = {"usbp",
                                {{"and", decode_logic<And, kAnd>},
                                 {"or", decode_logic<Or, kOr>},
                                 {"xor", decode_logic<Xor, kXor>},
                                 {"not", decode_not},
                                 {"cnot", decode_cnot},
                                 {"shl", decode_shl},
                                 {"shr", decode_shr},
                                 {"shf", decode_shf},
                                 {"lop3", decode_lop3}}};
  return family;
}

}  // namespace simt
