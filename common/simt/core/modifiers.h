// What the modifiers of PTX ask of an instruction: how to round, what to do
// with subnormal numbers, how to compare, what an atomic does.
#pragma once
#include <cstdint>

namespace simt {

// To nearest even, to zero, down, up: .rn .rz .rm .rp, in this order.
enum class Rounding : uint8_t { kNearest, kToZero, kDown, kUp };

struct FloatModifiers {
  bool flush : 1 = false;     // .ftz: subnormal operands and results become 0
  bool saturate : 1 = false;  // .sat: into [0, 1], NaN becomes 0; of integers,
                              //   into the range of their type
  bool relu : 1 = false;      // .relu: negative becomes 0
  bool finite : 1 = false;    // .satfinite: no infinity
  bool integral : 1 = false;  // .rni and its kin: to a whole number
  bool propagate_nan : 1 = false;  // .NaN: of min and max, one is enough
  bool by_magnitude : 1 = false;   // .xorsign.abs: magnitudes compete, signs
                                   //   multiply
  bool operator==(const FloatModifiers&) const = default;
};

// Comparisons, in the order of their modifiers. One with a NaN is false, but
// for those behind kGe ("equ": unordered or equal).
enum class Relation : uint8_t {
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kEqu,
  kNeu,
  kLtu,
  kLeu,
  kGtu,
  kGeu,
  kNum,
  kNan
};

// Of numbers that are no fractions.
inline bool holds(Relation relation, int64_t a, int64_t b) {
  switch (relation) {
    case Relation::kEq:
      return a == b;
    case Relation::kNe:
      return a != b;
    case Relation::kLt:
      return a < b;
    case Relation::kLe:
      return a <= b;
    case Relation::kGt:
      return a > b;
    default:
      return a >= b;
  }
}

// How a result is combined with a predicate: .and .or .xor.
enum class Logic : uint8_t { kNone, kAnd, kOr, kXor };

// What an atomic makes of a word: .add .min .max ..., in this order.
enum class Update : uint8_t {
  kAdd,
  kMin,
  kMax,
  kAnd,
  kOr,
  kXor,
  kExchange,
  kCompareAndSwap,
  kIncrement,
  kDecrement
};

}  // namespace simt
