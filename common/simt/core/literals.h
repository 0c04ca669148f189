// Numbers as PTX writes them: 12, -5, 0x1F, 0b101, 017, 12U, 0f3F800000,
// 0d3FF0000000000000, 1.5.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace simt {

struct Literal {
  enum Kind { kInteger, kSingle, kDouble };  // 1.5 is a double, as in C
  Kind kind = kInteger;
  uint64_t bits = 0;

  bool is_integer() const { return kind == kInteger; }
  // As an operand of so many bytes holds it: an integer is cut off, a
  // floating-point number is rounded to the format of that width.
  uint64_t as(int bytes) const;
};

// Nothing if `text` does not begin as a number does. Throws Error for what
// does and is none, such as 12abc, and for what does not fit into 64 bits.
std::optional<Literal> parse_literal(const std::string& text);

// A whole number from 0 to `most`; throws Error for anything else.
uint64_t parse_count(const std::string& text, uint64_t most);

}  // namespace simt
