// Computes constant expressions as ptxas does: in 64 bits, as in C.
#include "common/simt/decode/expression.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/simt/core/error.h"
#include "common/simt/core/lanes.h"

namespace simt {
namespace {

// A literal is signed unless it ends in U or is too large for that.
struct Number {
  uint64_t bits = 0;
  bool is_signed = true;

  bool negative() const { return is_signed && bits >> 63; }
};

// From those that bind least to those that bind most.
constexpr std::array<std::array<std::string_view, 4>, 10> kOperators = {{
    {"||"},
    {"&&"},
    {"|"},
    {"^"},
    {"&"},
    {"==", "!="},
    {"<", ">", "<=", ">="},
    {"<<", ">>"},
    {"+", "-"},
    {"*", "/", "%"},
}};

Number divide(Number a, Number b) {
  if (!a.is_signed || !b.is_signed) return {a.bits / b.bits, false};
  const auto x = static_cast<int64_t>(a.bits), y = static_cast<int64_t>(b.bits);
  return {y == -1 ? 0 - a.bits : static_cast<uint64_t>(x / y), true};
}

Number compute(std::string_view op, Number a, Number b) {
  const bool both = a.is_signed && b.is_signed;
  const bool less =
      both ? static_cast<int64_t>(a.bits) < static_cast<int64_t>(b.bits)
           : a.bits < b.bits;
  const bool equal = a.bits == b.bits;
  const auto truth = [](bool value) { return Number{value, true}; };
  if (op == "||") return truth(a.bits || b.bits);
  if (op == "&&") return truth(a.bits && b.bits);
  if (op == "==") return truth(equal);
  if (op == "!=") return truth(!equal);
  if (op == "<") return truth(less);
  if (op == ">") return truth(!less && !equal);
  if (op == "<=") return truth(less || equal);
  if (op == ">=") return truth(!less);
  if (op == "<<") return {a.bits << b.bits % 64, a.is_signed};
  if (op == ">>") {
    const uint64_t filled = a.negative() ? ~(~0ull >> b.bits % 64) : 0;
    return {a.bits >> b.bits % 64 | filled, a.is_signed};
  }
  if (op == "|") return {a.bits | b.bits, both};
  if (op == "^") return {a.bits ^ b.bits, both};
  if (op == "&") return {a.bits & b.bits, both};
  if (op == "+") return {a.bits + b.bits, both};
  if (op == "-") return {a.bits - b.bits, both};
  if (op == "*") return {a.bits * b.bits, both};
  if (b.bits == 0) throw Error("a division by zero");
  return op == "/" ? divide(a, b) : Number{a.bits % b.bits, false};
}

class Expression {
 public:
  Expression(const std::vector<Token>& tokens, size_t& at)
      : tokens_(tokens), at_(at) {}

  // a ? b : c, which has the type of the one that it takes.
  Number choice() { return deeper(&Expression::choose); }

 private:
  // Each level is a few of the host's calls.
  static constexpr int kDeepest = 100;

  Number deeper(Number (Expression::*part)()) {
    if (++depth_ > kDeepest) throw Error("this expression is too deep");
    const Number value = (this->*part)();
    --depth_;
    return value;
  }

  Number choose() {
    const Number condition = binary(0);
    if (!accept("?")) return condition;
    const Number yes = choice();
    if (!accept(":")) throw Error("a '?' without its ':'");
    const Number no = choice();
    return condition.bits ? yes : no;
  }

  std::string_view peek(size_t ahead = 0) const {
    return at_ + ahead < tokens_.size() ? tokens_[at_ + ahead].text : "";
  }
  bool accept(std::string_view text) {
    const bool found = peek() == text;
    at_ += found;
    return found;
  }

  // One of this level, which may be two characters side by side: `a & b` is
  // not the beginning of `a && b`. Empty if none stands here.
  std::string_view accept_operator(size_t level) {
    std::string_view op = peek();
    const std::string_view next = peek(1);
    if (may_be_doubled(op) && next.data() == op.data() + 1 &&
        (next == op || next == "="))
      op = {op.data(), 2};
    if (std::ranges::count(kOperators[level], op) == 0) return {};
    at_ += op.size();
    return op;
  }
  static bool may_be_doubled(std::string_view text) {
    return text.size() == 1 &&
           std::string_view("|&<>=!").find(text) != text.npos;
  }

  Number binary(size_t level) {
    if (level == kOperators.size()) return unary();
    Number left = binary(level + 1);
    for (;;) {
      const std::string_view op = accept_operator(level);
      if (op.empty()) return left;
      left = compute(op, left, binary(level + 1));
    }
  }

  Number unary() { return deeper(&Expression::with_sign); }

  Number with_sign() {
    if (accept("+")) return unary();
    if (accept("-")) {
      const Number a = unary();
      return {0 - a.bits, a.is_signed};
    }
    if (accept("~")) return {~unary().bits, false};
    if (accept("!")) return {unary().bits == 0, true};
    if (accept("(")) return in_parentheses();
    return primary();
  }

  // (3 + 4), or (.u64)-1
  Number in_parentheses() {
    for (std::string_view type : {".u64", ".s64"}) {
      if (!accept(type)) continue;
      close();
      return {unary().bits, type == ".s64"};
    }
    const Number inner = choice();
    close();
    return inner;
  }
  void close() {
    if (!accept(")"))
      throw Error("expected ')', found '" + std::string(peek()) + "'");
  }

  Number primary() {
    if (accept("WARP_SZ")) return {kLanes, true};
    const std::string text(peek());
    const std::optional<Literal> number = parse_literal(text);
    if (!number) throw Error("'" + text + "' is no operand");
    if (!number->is_integer())
      throw Error("the executor computes with whole numbers only, not with '" +
                  text + "'");
    ++at_;
    return {number->bits, number->bits <= INT64_MAX && !text.ends_with('U')};
  }

  const std::vector<Token>& tokens_;
  size_t& at_;
  int depth_ = 0;
};

}  // namespace

Literal constant_expression(const std::vector<Token>& tokens, size_t& at) {
  std::string text;
  size_t end = at;
  do {
    if (end == tokens.size()) throw Error("a number is missing");
    text += tokens[end].text;
  } while (tokens[end++].text == "-");
  const std::optional<Literal> number = parse_literal(text);
  // A table has thousands of numbers, and nothing to compute.
  const bool alone = end < tokens.size() &&
                     (tokens[end].text == "," || tokens[end].text == "}");
  if (!number || (number->is_integer() && !alone))
    return {Literal::kInteger, Expression(tokens, at).choice().bits};
  at = end;
  return *number;
}

}  // namespace simt
