// Arithmetic, logic, comparison and conversion: everything that reads and
// writes registers of one lane only. Implemented in arithmetic_*.cpp.
#pragma once
#include <string>
#include <utility>

#include "common/simt/core/code.h"
#include "common/simt/core/error.h"

namespace simt {

// An operand that is no more than its text: a register, a number, a variable.
inline Operand named(std::string text) {
  Operand operand;
  operand.text = std::move(text);
  return operand;
}

// What the decoder offers to whoever turns a statement into an instruction.
class OperandReader {
 public:
  virtual ~OperandReader() = default;
  // The lanes of a source operand: register, number, special register, or
  // address of a variable. An immediate is spread over 32 lanes of `bytes`
  // (0f3F800000 given to an 8-byte operand becomes the double). `bytes` is
  // ignored for registers: they keep their declared width.
  virtual Place source(const Operand& operand, int bytes) = 0;
  virtual Place destination(const Operand& operand) = 0;  // '_': kNowhere
  // A predicate operand, source or destination ("%p1", "_" is kNowhere);
  // Operand::negated is the caller's business.
  virtual Place predicate(const std::string& name) = 0;
  // Width in bytes of a register, as it was declared, or of a special one; 0
  // for anything else.
  virtual int width(const Operand& operand) = 0;
  // What was declared as .pred, or as any other register.
  virtual bool is_predicate(const std::string& name) = 0;
  virtual bool is_register(const std::string& name) = 0;
};

// An instruction on its way: its lists still grow.
struct Draft : Instruction {
  std::vector<Place> written, read;
  std::vector<Address> accessed;

  void invert_last() { negated |= 1u << (read.size() - 1); }
};

// Fills in `ins`: handler, operands, modifiers. The list of forms has decided
// what is accepted; throws Error for what it holds and no family knows.
void decode_arithmetic(const Statement& s, OperandReader& operands, Draft& ins);

// What ptxas makes of a product and the sum that it goes into, rounded once.
enum class Fused : uint8_t {
  kSum,           // a * b + c
  kMinusAddend,   // a * b - c
  kMinusProduct,  // c - a * b
  kMinusBoth,     // -(a * b) - c
};
// Of operands a, b and c; null for what is no floating-point type.
Handler fused_handler(Type type, Fused form);
Handler fused_half_handler(Type type, Fused form);  // f16, bf16, pairs of them

// What copies a source of 1, 2, 4, 8 or 16 bytes to a register as wide.
Handler copy_handler(int bytes);

}  // namespace simt
