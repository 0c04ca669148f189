// Comparisons, and selections by their results: setp, set, selp, slct, testp.
#include <array>
#include <type_traits>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "common/simt/isa/arithmetic/float.h"

namespace simt {
namespace {

// Of whole numbers: those that know no NaN.
constexpr size_t kOrderedRelations = 6;
constexpr size_t kRelations = 14;

template <Relation relation>
struct Compare {
  template <class T>
  bool operator()(T a, T b) const {
    switch (relation) {
      case Relation::kEq:
        return a == b;
      case Relation::kNe:
        return std::is_integral_v<T> ? a != b : a < b || a > b;
      case Relation::kLt:
        return a < b;
      case Relation::kLe:
        return a <= b;
      case Relation::kGt:
        return a > b;
      case Relation::kGe:
        return a >= b;
      case Relation::kEqu:
        return !(a < b || a > b);
      case Relation::kNeu:
        return a != b;
      case Relation::kLtu:
        return !(a >= b);
      case Relation::kLeu:
        return !(a > b);
      case Relation::kGtu:
        return !(a <= b);
      case Relation::kGeu:
        return !(a < b);
      case Relation::kNum:
        return a == a && b == b;
      case Relation::kNan:
        return a != a || b != b;
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

template <class T, Relation relation>
uint32_t compare(const T* a, const T* b) {
#ifdef __AVX512F__  // The answer of a vector's comparison is a mask already.
  if constexpr (std::is_integral_v<T> && sizeof(T) == 4) {
    const auto half = [&](int l) -> uint32_t {
      const __m512i x = _mm512_loadu_si512(a + l);
      const __m512i y = _mm512_loadu_si512(b + l);
      return std::is_signed_v<T>
                 ? _mm512_cmp_epi32_mask(x, y, kOfVectors[int(relation)])
                 : _mm512_cmp_epu32_mask(x, y, kOfVectors[int(relation)]);
    };
    return half(16) << 16 | half(0);
  }
#endif
  return lanes_where(Compare<relation>{}, a, b);
}

template <class T, size_t... k>
constexpr auto comparisons(std::index_sequence<k...>) {
  return std::array<Comparison<T>, sizeof...(k)>{compare<T, Relation(k)>...};
}

// By Relation.
template <class T>
constexpr auto kComparisons = comparisons<T>(
    std::make_index_sequence<std::is_integral_v<T> ? kOrderedRelations
                                                   : kRelations>{});

template <class T>
Comparison<T> comparison_of(const Instruction& i) {
  return kComparisons<T>[static_cast<size_t>(i.relation)];
}

template <class T>
uint32_t compare_lanes(Warp& w, const Instruction& i) {
  const T* a = lanes<T>(w, i.source(0));
  const T* b = lanes<T>(w, i.source(1));
  if constexpr (std::is_same_v<T, float>) {
    if (i.modifiers.flush) {
      const auto flushed = [](float x) { return flush(x); };
      float flushed_a[kLanes], flushed_b[kLanes];
      map_lanes(kAllLanes, flushed_a, flushed, a);
      map_lanes(kAllLanes, flushed_b, flushed, b);
      return comparison_of<float>(i)(flushed_a, flushed_b);
    }
  }
  return comparison_of<T>(i)(a, b);
}

// Halves are compared as floats. kPart picks one of two in a pair; its
// neighbour is shifted out first.
template <class Format, class Lane, int kPart>
uint32_t compare_halves(Warp& w, const Instruction& i) {
  float values[2][kLanes];
  const Place places[2] = {i.source(0), i.source(1)};
  const bool flush = i.modifiers.flush;
  for (int k = 0; k < 2; ++k)
    map_lanes(
        kAllLanes, values[k],
        [flush](Lane x) {
          const float value = Format::widen(x >> (16 * kPart));
          const bool subnormal = std::fabs(value) < 0x1p-14f;
          return flush && subnormal ? std::copysign(0.0f, value) : value;
        },
        lanes<Lane>(w, places[k]));
  return comparison_of<float>(i)(values[0], values[1]);
}

using CompareLanes = uint32_t (*)(Warp&, const Instruction&);

void write_comparison(Warp& w, const Instruction& i, uint32_t bits,
                      uint32_t mask) {
  // Both are combined before either is written: c may be one of them.
  const uint32_t holds = combine(w, i, 2, bits);
  const uint32_t fails = combine(w, i, 2, ~bits);
  write_predicate(w, i.result(0), holds, mask);
  write_predicate(w, i.result(1), fails, mask);
}

template <CompareLanes compare>
void setp(Warp& w, const Instruction& i, uint32_t mask) {
  write_comparison(w, i, compare(w, i), mask);
}

// The same for one operator, without looking it up, and one predicate: loops
// do little else.
template <class T, Relation relation>
void setp_by(Warp& w, const Instruction& i, uint32_t mask) {
  write_predicate(
      w, i.result(0),
      compare<T, relation>(lanes<T>(w, i.source(0)), lanes<T>(w, i.source(1))),
      mask);
}

template <class T, size_t... k>
constexpr auto setps(std::index_sequence<k...>) {
  return std::array<Handler, sizeof...(k)>{setp_by<T, Relation(k)>...};
}

// By Relation; for integers of 4 bytes.
template <class T>
constexpr auto kSetps = setps<T>(std::make_index_sequence<kOrderedRelations>{});

// p|q of a pair are the comparisons of its two halves.
template <class Format>
void setp_pair(Warp& w, const Instruction& i, uint32_t mask) {
  const uint32_t low = compare_halves<Format, uint32_t, 0>(w, i);
  const uint32_t high = compare_halves<Format, uint32_t, 1>(w, i);
  const uint32_t p = combine(w, i, 2, low), q = combine(w, i, 2, high);
  write_predicate(w, i.result(0), p, mask);
  write_predicate(w, i.result(1), q, mask);
}

// set writes "true" into a register: all ones, or 1 in a floating format.
template <class T>
void write_truth(Warp& w, Place place, uint32_t bits, T truth, uint32_t mask) {
  T result[kLanes];
  for (int l = 0; l < kLanes; ++l) result[l] = bits >> l & 1 ? truth : 0;
  blend_lanes(lanes<T>(w, place), result, mask);
}

// In the format of a set's result.
uint32_t truth_of(Type type) {
  switch (type.kind) {
    case 'f':
      return 0x3f800000;
    case 'h':
    case 'x':
      return Half::kOne;
    case 'y':
    case 'z':
      return BFloat::kOne;
  }
  return ~0u;
}

template <CompareLanes compare>
void set(Warp& w, const Instruction& i, uint32_t mask) {
  const uint32_t bits = combine(w, i, 2, compare(w, i));
  const uint32_t truth = truth_of(i.to);
  if (i.to.bytes == 4)
    write_truth(w, i.result(0), bits, truth, mask);
  else
    write_truth(w, i.result(0), bits, static_cast<uint16_t>(truth), mask);
}

template <class Format>
void set_pair(Warp& w, const Instruction& i, uint32_t mask) {
  const uint32_t bits[2] = {
      combine(w, i, 2, compare_halves<Format, uint32_t, 0>(w, i)),
      combine(w, i, 2, compare_halves<Format, uint32_t, 1>(w, i))};
  const uint32_t truth = truth_of(i.to) & 0xffff;
  uint32_t result[kLanes];
  for (int l = 0; l < kLanes; ++l) {
    result[l] =
        (bits[0] >> l & 1 ? truth : 0) | (bits[1] >> l & 1 ? truth << 16 : 0);
  }
  blend_lanes(lanes<uint32_t>(w, i.result(0)), result, mask);
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

Relation take_relation(Decoding& d) {
  const int found =
      d.take_one({"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu",
                  "leu", "gtu", "geu", "num", "nan"});
  if (found >= 0) return static_cast<Relation>(found);
  // Of unsigned numbers: .lt, .le, .gt, .ge by other names.
  const int also = d.take_one({"lo", "ls", "hi", "hs"});
  return static_cast<Relation>(static_cast<int>(Relation::kLt) + also);
}

// setp.CmpOp[.BoolOp][.ftz].type: what setp and set have in common.
Comparer decode_comparison(Decoding& d, Type type) {
  d.ins.relation = take_relation(d);
  d.ins.logic = take_logic(d);
  d.ins.modifiers = take_modifiers(d);
  d.read(1, type.bytes);
  d.read(2, type.bytes);
  if (d.ins.logic != Logic::kNone) d.read_predicate(3);
  return comparer_for(type);
}

void decode_setp(Decoding& d) {
  const Type type = d.take_type();
  d.bind_predicates();
  d.ins.run = decode_comparison(d, type).setp;
  const bool one = d.ins.written[1] == kNowhere;
  if (type.bytes != 4 || !one || d.ins.logic != Logic::kNone) return;
  const auto relation = static_cast<size_t>(d.ins.relation);
  if (type.is('s')) d.ins.run = kSetps<int32_t>[relation];
  if (type.is('u') || type.is('b')) d.ins.run = kSetps<uint32_t>[relation];
}

void decode_set(Decoding& d) {
  d.ins.to = d.take_type();
  const Type from = d.take_type();
  d.bind_destination();
  d.ins.run = decode_comparison(d, from).set;
}

template <class T>
void selp(Warp& w, const Instruction& i, uint32_t mask) {
  const T* a = lanes<T>(w, i.source(0));
  const T* b = lanes<T>(w, i.source(1));
  const uint32_t c = read_predicate(w, i, 2);
  map_indices(mask, lanes<T>(w, i.result(0)), [=](int l) {
    const T if_true = a[l], if_false = b[l];
    return c & kLaneBit[l] ? if_true : if_false;
  });
}

void decode_selp(Decoding& d) {
  const Type type = d.take_type();
  d.bind(type.bytes, type.bytes);
  d.read_predicate(3);
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

// testp, by the order of its modifiers. 0 counts as normal.
template <int property>
struct Has {
  template <class T>
  bool operator()(T x) const {
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
};

template <int property, class T>
void testp(Warp& w, const Instruction& i, uint32_t mask) {
  const uint32_t bits = lanes_where(
      Has<property>{}, static_cast<const T*>(lanes<T>(w, i.source(0))));
  write_predicate(w, i.result(0), bits, mask);
}

template <class T>
constexpr Handler kTests[] = {testp<0, T>, testp<1, T>, testp<2, T>,
                              testp<3, T>, testp<4, T>, testp<5, T>};

void decode_testp(Decoding& d) {
  const Type type = d.take_type();
  const int property = d.take_one(
      {"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  d.bind_predicates();
  d.read(1, type.bytes);
  d.ins.run =
      type.bytes == 4 ? kTests<float>[property] : kTests<double>[property];
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
