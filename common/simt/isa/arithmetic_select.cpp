// Comparisons, and selections by their results: setp, set, selp, slct, testp.
#include <array>
#include <type_traits>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "common/simt/isa/arithmetic_float.h"

namespace simt {
namespace {

// In the order of kOperators. A comparison with NaN is false, but for the
// unordered ones (ltu: less or unordered), written as what must not hold.
enum Operator {
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kOrderedOperators,
  kEqu = kOrderedOperators,
  kNeu,
  kLtu,
  kLeu,
  kGtu,
  kGeu,
  kNum,
  kNan,
  kOperators
};

template <Operator kOperator>
struct Compare {
  template <class T>
  bool operator()(T a, T b) const {
    switch (kOperator) {
      case kEq:
        return a == b;
      case kNe:
        return std::is_integral_v<T> ? a != b : a < b || a > b;
      case kLt:
        return a < b;
      case kLe:
        return a <= b;
      case kGt:
        return a > b;
      case kGe:
        return a >= b;
      case kEqu:
        return !(a < b || a > b);
      case kNeu:
        return a != b;
      case kLtu:
        return !(a >= b);
      case kLeu:
        return !(a > b);
      case kGtu:
        return !(a <= b);
      case kGeu:
        return !(a < b);
      case kNum:
        return a == a && b == b;
      case kNan:
        return a != a || b != b;
      case kOperators:
        break;
    }
    return false;
  }
};

#ifdef __AVX512F__
constexpr int kOfVectors[] = {_MM_CMPINT_EQ, _MM_CMPINT_NE,  _MM_CMPINT_LT,
                              _MM_CMPINT_LE, _MM_CMPINT_NLE, _MM_CMPINT_NLT};
#endif

// The lanes of a and b for which the comparison holds.
template <class T>
using Comparison = uint32_t (*)(const T* a, const T* b);

template <class T, Operator kOperator>
uint32_t compare(const T* a, const T* b) {
#ifdef __AVX512F__  // The answer of a vector's comparison is a mask already.
  if constexpr (std::is_integral_v<T> && sizeof(T) == 4) {
    const auto half = [&](int l) -> uint32_t {
      const __m512i x = _mm512_loadu_si512(a + l);
      const __m512i y = _mm512_loadu_si512(b + l);
      return std::is_signed_v<T>
                 ? _mm512_cmp_epi32_mask(x, y, kOfVectors[kOperator])
                 : _mm512_cmp_epu32_mask(x, y, kOfVectors[kOperator]);
    };
    return half(16) << 16 | half(0);
  }
#endif
  return lanes_where(Compare<kOperator>{}, a, b);
}

template <class T, size_t... k>
constexpr auto comparisons(std::index_sequence<k...>) {
  return std::array<Comparison<T>, sizeof...(k)>{compare<T, Operator(k)>...};
}

// By Operator.
template <class T>
constexpr auto kComparisons = comparisons<T>(
    std::make_index_sequence<std::is_integral_v<T> ? kOrderedOperators
                                                   : kOperators>{});

// lut: the operator.
template <class T>
uint32_t compare_lanes(Warp& w, const Instruction& i) {
  const T* a = lanes<T>(w, i.a);
  const T* b = lanes<T>(w, i.b);
  if constexpr (std::is_same_v<T, float>) {
    if (i.flags & kFlush) {
      const auto flushed = [](float x) { return flush(x); };
      float flushed_a[kLanes], flushed_b[kLanes];
      map_lanes(kAllLanes, flushed_a, flushed, a);
      map_lanes(kAllLanes, flushed_b, flushed, b);
      return kComparisons<float>[i.lut](flushed_a, flushed_b);
    }
  }
  return kComparisons<T>[i.lut](a, b);
}

// Halves are compared as floats. kPart picks one of two in a pair; its
// neighbour is shifted out first.
template <class Format, class Lane, int kPart>
uint32_t compare_halves(Warp& w, const Instruction& i) {
  float values[2][kLanes];
  const Place places[2] = {i.a, i.b};
  const bool flush = i.flags & kFlush;
  for (int k = 0; k < 2; ++k)
    map_lanes(
        kAllLanes, values[k],
        [flush](Lane x) {
          const float value = Format::widen(x >> (16 * kPart));
          const bool subnormal = std::fabs(value) < 0x1p-14f;
          return flush && subnormal ? std::copysign(0.0f, value) : value;
        },
        lanes<Lane>(w, places[k]));
  return kComparisons<float>[i.lut](values[0], values[1]);
}

enum Bool : uint8_t { kNone, kAnd, kOr, kXor };

// mode: how the comparison is combined with predicate c.
uint32_t combine(Warp& w, const Instruction& i, uint32_t bits) {
  if (i.mode == kNone) return bits;
  const uint32_t c = read_predicate(w, i.c, i.c_negated);
  return i.mode == kAnd ? bits & c : i.mode == kOr ? bits | c : bits ^ c;
}

using CompareLanes = uint32_t (*)(Warp&, const Instruction&);

void write_comparison(Warp& w, const Instruction& i, uint32_t bits,
                      uint32_t mask) {
  // Both are combined before either is written: c may be one of them.
  const uint32_t holds = combine(w, i, bits), fails = combine(w, i, ~bits);
  write_predicate(w, i.dst, holds, mask);
  write_predicate(w, i.dst2, fails, mask);
}

template <CompareLanes compare>
void setp(Warp& w, const Instruction& i, uint32_t mask) {
  write_comparison(w, i, compare(w, i), mask);
}

// The same for one operator, without looking it up, and one predicate: loops
// do little else.
template <class T, Operator kOperator>
void setp_by(Warp& w, const Instruction& i, uint32_t mask) {
  write_predicate(w, i.dst,
                  compare<T, kOperator>(lanes<T>(w, i.a), lanes<T>(w, i.b)),
                  mask);
}

template <class T, size_t... k>
constexpr auto setps(std::index_sequence<k...>) {
  return std::array<Handler, sizeof...(k)>{setp_by<T, Operator(k)>...};
}

// By Operator; for integers of 4 bytes.
template <class T>
constexpr auto kSetps = setps<T>(std::make_index_sequence<kOrderedOperators>{});

// p|q of a pair are the comparisons of its two halves.
template <class Format>
void setp_pair(Warp& w, const Instruction& i, uint32_t mask) {
  const uint32_t low = compare_halves<Format, uint32_t, 0>(w, i);
  const uint32_t high = compare_halves<Format, uint32_t, 1>(w, i);
  const uint32_t p = combine(w, i, low), q = combine(w, i, high);
  write_predicate(w, i.dst, p, mask);
  write_predicate(w, i.dst2, q, mask);
}

// set writes "true" into a register: all ones, or 1 in a floating format.
template <class T>
void write_truth(Warp& w, Place place, uint32_t bits, T truth, uint32_t mask) {
  T result[kLanes];
  for (int l = 0; l < kLanes; ++l) result[l] = bits >> l & 1 ? truth : 0;
  blend_lanes(lanes<T>(w, place), result, mask);
}

enum Truth : uint8_t { kOnes, kFloatOne, kHalfOne, kBFloatOne };
constexpr uint32_t kTruth32[] = {~0u, 0x3f800000};
constexpr uint16_t kTruth16[] = {0xffff, 0, Half::kOne, BFloat::kOne};

// src_bytes: Truth. dst_bytes: width of the result.
template <CompareLanes compare>
void set(Warp& w, const Instruction& i, uint32_t mask) {
  const uint32_t bits = combine(w, i, compare(w, i));
  if (i.dst_bytes == 4)
    write_truth(w, i.dst, bits, kTruth32[i.src_bytes], mask);
  else
    write_truth(w, i.dst, bits, kTruth16[i.src_bytes], mask);
}

template <class Format>
void set_pair(Warp& w, const Instruction& i, uint32_t mask) {
  const uint32_t bits[2] = {
      combine(w, i, compare_halves<Format, uint32_t, 0>(w, i)),
      combine(w, i, compare_halves<Format, uint32_t, 1>(w, i))};
  uint32_t result[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    const uint32_t truth = kTruth16[i.src_bytes];
    result[l] =
        (bits[0] >> l & 1 ? truth : 0) | (bits[1] >> l & 1 ? truth << 16 : 0);
  }
  blend_lanes(lanes<uint32_t>(w, i.dst), result, mask);
}

struct Comparer {
  Handler setp, set;
};
template <CompareLanes compare>
constexpr Comparer kComparer = {setp<compare>, set<compare>};

Comparer comparer_for(Type t) {
  switch (t.kind) {
    case 'f':
      return t.bytes == 4 ? kComparer<compare_lanes<float>>
                          : kComparer<compare_lanes<double>>;
    case 'h':
      return kComparer<compare_halves<Half, uint16_t, 0>>;
    case 'y':
      return kComparer<compare_halves<BFloat, uint16_t, 0>>;
    case 'x':
      return {setp_pair<Half>, set_pair<Half>};
    case 'z':
      return {setp_pair<BFloat>, set_pair<BFloat>};
  }
  const bool with_sign = t.is_signed();
  switch (t.bytes) {
    case 2:
      return with_sign ? kComparer<compare_lanes<int16_t>>
                       : kComparer<compare_lanes<uint16_t>>;
    case 4:
      return with_sign ? kComparer<compare_lanes<int32_t>>
                       : kComparer<compare_lanes<uint32_t>>;
    case 8:
      return with_sign ? kComparer<compare_lanes<int64_t>>
                       : kComparer<compare_lanes<uint64_t>>;
  }
  return {};
}

// setp.CmpOp[.BoolOp][.ftz].type: what setp and set have in common.
Comparer decode_comparison(Decoding& d, Type type) {
  const bool is_integer = type.is('u') || type.is('s') || type.is('b');
  int op = d.take_one({"eq", "ne", "lt", "le", "gt", "ge"});
  if (op < 0 && !is_integer) {
    op = d.take_one({"equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"});
    if (op >= 0) op += kOrderedOperators;
  }
  if (op < 0 && type.is('u')) {
    op = d.take_one({"lo", "ls", "hi", "hs"});
    if (op >= 0) op += kLt;
  }
  if (op < 0 || (type.is('b') && op > kNe)) d.unsupported();
  d.ins.lut = op;
  d.ins.mode = 1 + d.take_one({"and", "or", "xor"});
  if (d.take("ftz")) {
    if (type.bytes == 8 || is_integer || type.is('y') || type.is('z'))
      d.unsupported();
    d.ins.flags = kFlush;
  }
  d.ins.a = d.source(1, type.bytes);
  d.ins.b = d.source(2, type.bytes);
  if (d.ins.mode != kNone) d.ins.c = d.predicate(3, d.ins.c_negated);
  return comparer_for(type);
}

void decode_setp(Decoding& d) {
  const Type type = d.take_type();
  d.ins.dst = d.operands.predicate(d.operand(0).text);
  d.ins.dst2 = d.operands.predicate(d.operand(0).second);
  d.ins.run = decode_comparison(d, type).setp;
  const bool plain = d.ins.mode == kNone && d.ins.dst2 == kNowhere;
  if (type.bytes != 4 || !plain) return;
  if (type.is('s')) d.ins.run = kSetps<int32_t>[d.ins.lut];
  if (type.is('u') || type.is('b')) d.ins.run = kSetps<uint32_t>[d.ins.lut];
}

void decode_set(Decoding& d) {
  const Type to = d.take_type(), from = d.take_type();
  const bool pair = from.is('x') || from.is('z');
  switch (to.kind) {
    case 'u':
    case 's':
      d.ins.src_bytes = kOnes;
      break;
    case 'f':
      d.ins.src_bytes = kFloatOne;
      break;
    case 'h':
    case 'x':
      d.ins.src_bytes = kHalfOne;
      break;
    case 'y':
    case 'z':
      d.ins.src_bytes = kBFloatOne;
      break;
    default:
      d.unsupported();
  }
  d.ins.dst_bytes = to.bytes;
  if (to.bytes > 4 || (pair && to.bytes != 4)) d.unsupported();
  d.bind_destination();
  d.ins.run = decode_comparison(d, from).set;
}

template <class T>
void selp(Warp& w, const Instruction& i, uint32_t mask) {
  const T* a = lanes<T>(w, i.a);
  const T* b = lanes<T>(w, i.b);
  const uint32_t c = read_predicate(w, i.c, i.c_negated);
  map_indices(mask, lanes<T>(w, i.dst), [=](int l) {
    const T if_true = a[l], if_false = b[l];
    return c & kLaneBit[l] ? if_true : if_false;
  });
}

void decode_selp(Decoding& d) {
  const Type type = d.take_type();
  d.bind(type.bytes, type.bytes);
  d.ins.c = d.predicate(3, d.ins.c_negated);
  switch (type.bytes) {
    case 2:
      d.ins.run = selp<uint16_t>;
      break;
    case 4:
      d.ins.run = selp<uint32_t>;
      break;
    case 8:
      d.ins.run = selp<uint64_t>;
      break;
  }
}

// slct: a where c >= 0, else b; a NaN is not >= 0. Flushing changes nothing
// but a negative subnormal c, which becomes -0 and selects a.
template <class C>
struct SelectBySign {
  template <class T>
  T operator()(T a, T b, C c) const {
    return c >= 0 ? a : b;
  }
};

struct SelectBySignFlushed {
  template <class T>
  T operator()(T a, T b, float c) const {
    return c > -0x1p-126f ? a : b;
  }
};

template <class Op, class C>
Handler slct_of_width(Type t) {
  switch (t.bytes) {
    case 2:
      return ternary<Op, uint16_t, uint16_t, uint16_t, C>;
    case 4:
      return ternary<Op, uint32_t, uint32_t, uint32_t, C>;
    case 8:
      return ternary<Op, uint64_t, uint64_t, uint64_t, C>;
  }
  return nullptr;
}

void decode_slct(Decoding& d) {
  const Type value = d.take_type(), by = d.take_type();
  d.bind(value.bytes, value.bytes, 4);
  if (by == Type{'s', 4})
    d.ins.run = slct_of_width<SelectBySign<int32_t>, int32_t>(value);
  else if (by == Type{'f', 4})
    d.ins.run = d.take("ftz")
                    ? slct_of_width<SelectBySignFlushed, float>(value)
                    : slct_of_width<SelectBySign<float>, float>(value);
}

// testp. mode: the property, in the order of decode_testp. 0 counts as normal.
template <class T>
bool has_property(uint8_t property, T x) {
  constexpr T kSmallest = sizeof(T) == 4 ? T(0x1p-126) : T(0x1p-1022);
  const T magnitude = std::fabs(x);
  const bool finite = magnitude < std::numeric_limits<T>::infinity();
  switch (property) {
    case 0:
      return finite;
    case 1:
      return magnitude == std::numeric_limits<T>::infinity();
    case 2:
      return x == x;
    case 3:
      return x != x;
    case 4:
      return finite && !(magnitude > 0 && magnitude < kSmallest);
    default:
      return magnitude > 0 && magnitude < kSmallest;
  }
}

template <class T>
void testp(Warp& w, const Instruction& i, uint32_t mask) {
  const uint8_t property = i.mode;
  const uint32_t bits =
      lanes_where([=](T x) { return has_property(property, x); },
                  static_cast<const T*>(lanes<T>(w, i.a)));
  write_predicate(w, i.dst, bits, mask);
}

void decode_testp(Decoding& d) {
  const Type type = d.take_type();
  const int property = d.take_one(
      {"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  if (property < 0 || !type.is_float()) d.unsupported();
  d.ins.mode = property;
  d.ins.dst = d.operands.predicate(d.operand(0).text);
  d.ins.a = d.source(1, type.bytes);
  d.ins.run = type.bytes == 4 ? testp<float> : testp<double>;
}

}  // namespace

const Family& select_family() {
  static const Family family = {"",
                                {{"setp", decode_setp},
                                 {"set", decode_set},
                                 {"selp", decode_selp},
                                 {"slct", decode_slct},
                                 {"testp", decode_testp}}};
  return family;
}

}  // namespace simt
