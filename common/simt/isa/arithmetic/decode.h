// How the families of arithmetic instructions are decoded: a table for each,
// from opcode to a small function.
#pragma once
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/simt/core/lanes.h"
#include "common/simt/isa/arithmetic/arithmetic.h"

namespace simt {

// A statement on its way to becoming an instruction.
class Decoding {
 public:
  Decoding(const Statement& statement, OperandReader& operands, Draft& draft,
           bool typed);

  const Statement& s;
  OperandReader& operands;
  Draft& ins;
  // The last suffix, e.g. f32. Of u16x2 and s16x2 it is the element's, and
  // the modifier "x2" stays to be taken.
  Type type;

  // Modifiers are taken one by one; what nobody took is an error at the end.
  bool take(std::string_view modifier);
  // Which of `choices` is there; -1: none.
  int take_one(std::initializer_list<std::string_view> choices);
  // The first type among the suffixes: cvt and dp4a have two. The last one is
  // taken already, unless the family leaves types to the decoder.
  Type take_type();
  void finish() const;

  [[noreturn]] void unsupported() const;

  void bind_destination();  // d, or d|p
  void bind_predicates();   // p, or p|q: two places, the second may be nowhere
  // The destination, and a, b, c, d of as many bytes each (0: not there).
  void bind(int a, int b = 0, int c = 0, int d = 0);
  const Operand& operand(size_t index) const;
  void read(size_t index, int bytes);
  void read_predicate(size_t index);

 private:
  std::vector<std::string_view> left_;  // suffixes nobody took yet
};

// .and, .or, .xor, or none of them.
inline Logic take_logic(Decoding& d) {
  return static_cast<Logic>(1 + d.take_one({"and", "or", "xor"}));
}

// A family: opcodes, for types of some kinds ("usb", "f", ...; empty: any, and
// the decoder takes the types itself).
struct Family {
  std::string_view kinds;
  std::map<std::string_view, void (*)(Decoding&)> rules;
};
const Family& integer_family();      // add mul mad div ... on integers
const Family& bits_family();         // popc bfe prmt dp4a ...
const Family& video_family();        // vadd vmad vset4 ...
const Family& logic_family();        // and or xor shl shr lop3 ...
const Family& float_family();        // add fma div sqrt ... on f32 and f64
const Family& approximate_family();  // ex2 sin rcp.approx ...
const Family& half_family();         // f16, bf16 and pairs of them
const Family& extreme_family();      // min max of any floating format
const Family& select_family();       // setp selp slct testp
const Family& move_family();         // mov
const Family& convert_family();      // cvt

// Handlers for integers of 2, 4 or 8 bytes; null for any other width.
template <class Op>
Handler unary_of_width(Type t) {
  switch (t.bytes) {
    case 2:
      return unary<Op, uint16_t>;
    case 4:
      return unary<Op, uint32_t>;
    case 8:
      return unary<Op, uint64_t>;
  }
  return nullptr;
}

template <class Op>
Handler binary_of_width(Type t) {
  switch (t.bytes) {
    case 2:
      return binary<Op, uint16_t>;
    case 4:
      return binary<Op, uint32_t>;
    case 8:
      return binary<Op, uint64_t>;
  }
  return nullptr;
}

// The same where the sign of the type matters.
template <class Op>
Handler binary_by_sign(Type t) {
  if (!t.is_signed()) return binary_of_width<Op>(t);
  switch (t.bytes) {
    case 2:
      return binary<Op, int16_t>;
    case 4:
      return binary<Op, int32_t>;
    case 8:
      return binary<Op, int64_t>;
  }
  return nullptr;
}

template <class Op>
Handler ternary_by_sign(Type t) {
  switch (t.bytes) {
    case 2:
      return t.is_signed() ? ternary<Op, int16_t> : ternary<Op, uint16_t>;
    case 4:
      return t.is_signed() ? ternary<Op, int32_t> : ternary<Op, uint32_t>;
    case 8:
      return t.is_signed() ? ternary<Op, int64_t> : ternary<Op, uint64_t>;
  }
  return nullptr;
}

}  // namespace simt
