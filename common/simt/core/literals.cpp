// Reads numbers, and refuses what is none.
#include "common/simt/core/literals.h"

#include <bit>
#include <charconv>
#include <string_view>

#include "common/simt/core/error.h"
#include "common/simt/core/ptx.h"

namespace simt {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

[[noreturn]] void not_a_number(const std::string& text) {
  throw Error("'" + text + "' is no number that PTX knows");
}

uint64_t digits(const std::string& text, std::string_view part, int base) {
  uint64_t value = 0;
  const char* const end = part.data() + part.size();
  const auto [stop, error] = std::from_chars(part.data(), end, value, base);
  if (error != std::errc{} || stop != end) not_a_number(text);
  return value;
}

uint64_t integer(const std::string& text, std::string_view part) {
  if (part.size() > 1 && part.back() == 'U') part.remove_suffix(1);
  const char second = part.size() > 1 ? part[1] : 0;
  const bool zero = part[0] == '0';
  if (zero && (second == 'x' || second == 'X'))
    return digits(text, part.substr(2), 16);
  if (zero && (second == 'b' || second == 'B'))
    return digits(text, part.substr(2), 2);
  return digits(text, part, zero ? 8 : 10);
}

double decimal(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) not_a_number(text);
  return value;
}

}  // namespace

uint64_t Literal::as(int bytes) const {
  if (kind == kSingle && bytes == 8)
    throw Error("0f begins a number of 32 bits; one of 64 begins with 0d");
  if (kind == kDouble && bytes == 4)
    return std::bit_cast<uint32_t>(
        static_cast<float>(std::bit_cast<double>(bits)));
  return bits;
}

std::optional<Literal> parse_literal(const std::string& text) {
  const bool minus = text.starts_with('-');
  std::string_view part = text;
  part.remove_prefix(minus);
  if (part.empty() || !is_digit(part[0])) return std::nullopt;
  const char kind = part.size() > 1 && part[0] == '0' ? part[1] | 0x20 : 0;
  if (kind == 'f' || kind == 'd') {
    if (minus || part.size() != (kind == 'f' ? 10 : 18)) not_a_number(text);
    return Literal{kind == 'f' ? Literal::kSingle : Literal::kDouble,
                   digits(text, part.substr(2), 16)};
  }
  const bool is_hex = kind == 'x';
  if (!is_hex && part.find_first_of(".eE") != part.npos)
    return Literal{Literal::kDouble, std::bit_cast<uint64_t>(decimal(text))};
  const uint64_t value = integer(text, part);
  return Literal{Literal::kInteger, minus ? 0 - value : value};
}

uint64_t parse_count(const std::string& text, uint64_t most) {
  const std::optional<Literal> number = parse_literal(text);
  if (!number || !number->is_integer()) not_a_number(text);
  if (number->bits > most)
    throw Error(text + " is more than " + std::to_string(most) +
                ", the most that may stand here");
  return number->bits;
}

}  // namespace simt
