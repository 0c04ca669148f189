// What becomes of undefined values in each instruction.
#include <algorithm>
#include <map>
#include <string_view>

#include "common/simt/decode/analysis.h"

namespace simt {
namespace {

struct Rule {
  Spread spread;
  uint8_t operands;  // that are taken bit by bit; others choose among the bits
};

const std::map<std::string_view, Rule> kBitwise = {
    {"mov", {Spread::kMoved, 4}},  {"selp", {Spread::kMoved, 2}},
    {"cvta", {Spread::kMoved, 1}}, {"and", {Spread::kBytes, 2}},
    {"or", {Spread::kBytes, 2}},   {"xor", {Spread::kBits, 2}},
    {"not", {Spread::kBits, 1}},   {"lop3", {Spread::kBits, 3}},
    {"shl", {Spread::kBytes, 1}},  {"shr", {Spread::kBytes, 1}},
    {"shf", {Spread::kBytes, 2}},  {"prmt", {Spread::kBytes, 2}},
    {"bfe", {Spread::kBytes, 1}},  {"bfi", {Spread::kBytes, 2}},
    {"brev", {Spread::kBits, 1}},
};

bool is_whole_number(const std::string& type) {
  const char kind = parse_type(type).kind;
  return kind == 'u' || kind == 's' || kind == 'b';
}

// cvt between whole numbers cuts bits off, or repeats the sign.
bool keeps_bits(const Statement& s) {
  const size_t n = s.op.size();
  return s.name() == "cvt" && n >= 3 && !s.has("sat") &&
         is_whole_number(s.op[n - 1]) && is_whole_number(s.op[n - 2]);
}

bool of_pairs(const Statement& s) {
  const Type type = s.type();
  return type.is('x') || type.is('z') || s.has("u16x2") || s.has("s16x2");
}

// Of what computes registers from registers.
Rule rule_of(const Statement& s) {
  const std::string& op = s.name();
  if (const auto known = kBitwise.find(op);
      known != kBitwise.end() && (op != "lop3" || s.operands.size() == 5))
    return known->second;
  if (keeps_bits(s)) return {Spread::kBytes, 1};
  if (op == "setp" || op == "set")
    return {s.has("and")  ? Spread::kAnd
            : s.has("or") ? Spread::kOr
                          : Spread::kWhole,
            0};
  return {of_pairs(s) ? Spread::kPairs : Spread::kWhole, 0};
}

bool is_access(const std::string& op) {
  return op == "ld" || op == "ldu" || op == "st" || op == "red" || op == "atom";
}

}  // namespace

void find_spread(Function& function) {
  for (Instruction& ins : function.code) {
    if (!ins.statement) continue;
    const Statement& s = *ins.statement;
    const std::string& op = s.name();
    if (ins.pure) {
      const Rule rule = rule_of(s);
      ins.spread = rule.spread;
      ins.spread_operands = rule.operands;
    } else if (is_access(op)) {
      ins.spread = s.has("exch") ? Spread::kExchange : Spread::kAccess;
    }
  }
}

}  // namespace simt
