// Bitwise logic, on integers and on predicates, and shifts.
#include <algorithm>
#include <type_traits>

#include "common/simt/core/literals.h"
#include "common/simt/isa/arithmetic/decode.h"

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

// (result != 0) is combined with a predicate, for d|p.
void lop3(Warp& w, const Instruction& i, uint32_t mask) {
  uint32_t result[kLanes];
  map_lanes(kAllLanes, result, Lop3(i.truth_table),
            lanes<uint32_t>(w, i.source(0)), lanes<uint32_t>(w, i.source(1)),
            lanes<uint32_t>(w, i.source(2)));
  if (i.result(0) != kNowhere)
    blend_lanes(lanes<uint32_t>(w, i.result(0)), result, mask);
  if (i.logic == Logic::kNone) return;
  const uint32_t set = lanes_where([](uint32_t x) { return x != 0; },
                                   static_cast<const uint32_t*>(result));
  write_predicate(w, i.result(1), combine(w, i, 3, set), mask);
}

// The logic of predicates works on 32 lanes at once.
template <class Op>
void predicate_logic(Warp& w, const Instruction& i, uint32_t mask) {
  const uint32_t both = Op{}(read_predicate(w, i, 0), read_predicate(w, i, 1));
  write_predicate(w, i.result(0), both, mask);
}

void invert_predicate(Warp& w, const Instruction& i, uint32_t mask) {
  write_predicate(w, i.result(0), ~read_predicate(w, i, 0), mask);
}

template <class Op>
void decode_logic(Decoding& d) {
  if (d.type.is('p')) {
    d.bind_predicates();
    d.read_predicate(1);
    d.read_predicate(2);
    d.ins.run = predicate_logic<Op>;
    return;
  }
  d.bind(d.type.bytes, d.type.bytes);
  d.ins.run = binary_of_width<Op>(d.type);
}

void decode_not(Decoding& d) {
  if (d.type.is('p')) {
    d.bind_predicates();
    d.read_predicate(1);
    d.ins.run = invert_predicate;
    return;
  }
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
  d.ins.truth_table = parse_count(d.operand(4).text, 255);
  d.ins.logic = take_logic(d);
  if (d.ins.logic != Logic::kNone) d.read_predicate(5);
  d.ins.run = lop3;
}

}  // namespace

const Family& logic_family() {
  static const Family family = {"usbp",
                                {{"and", decode_logic<And>},
                                 {"or", decode_logic<Or>},
                                 {"xor", decode_logic<Xor>},
                                 {"not", decode_not},
                                 {"cnot", decode_cnot},
                                 {"shl", decode_shl},
                                 {"shr", decode_shr},
                                 {"shf", decode_shf},
                                 {"lop3", decode_lop3}}};
  return family;
}

}  // namespace simt
