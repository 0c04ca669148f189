// From a statement to the family that knows its opcode and type.
#include "common/simt/isa/arithmetic/arithmetic.h"

#include <algorithm>

#include "common/simt/isa/arithmetic/decode.h"

namespace simt {

Decoding::Decoding(const Statement& statement, OperandReader& reader,
                   Draft& draft, bool typed)
    : s(statement), operands(reader), ins(draft) {
  left_.assign(s.op.begin() + 1, s.op.end());
  if (left_.empty()) return;
  std::string suffix = s.op.back();
  const bool pair = suffix == "u16x2" || suffix == "s16x2";
  if (pair) suffix.resize(3);
  type = parse_type(suffix);
  if (typed) left_.pop_back();
  if (typed && pair) left_.push_back("x2");
}

bool Decoding::take(std::string_view modifier) {
  const auto found = std::find(left_.begin(), left_.end(), modifier);
  if (found == left_.end()) return false;
  left_.erase(found);
  return true;
}

int Decoding::take_one(std::initializer_list<std::string_view> choices) {
  int index = 0;
  for (std::string_view choice : choices) {
    if (take(choice)) return index;
    ++index;
  }
  return -1;
}

Type Decoding::take_type() {
  for (auto suffix = left_.begin(); suffix != left_.end(); ++suffix) {
    const Type found = parse_type(std::string(*suffix));
    if (!found.kind) continue;
    left_.erase(suffix);
    return found;
  }
  unsupported();
}

void Decoding::finish() const {
  if (!left_.empty() || !ins.run) unsupported();
}

void Decoding::unsupported() const {
  std::string names = s.name();
  for (size_t k = 1; k < s.op.size(); ++k) names.append(1, '.').append(s.op[k]);
  throw Error("the executor does not know this form of " + s.name() + ", " +
              names + ": " + s.text);
}

const Operand& Decoding::operand(size_t index) const {
  return s.operands.at(index);
}

void Decoding::read(size_t index, int bytes) {
  ins.read.push_back(operands.source(operand(index), bytes));
}

void Decoding::read_predicate(size_t index) {
  ins.read.push_back(operands.predicate(operand(index).text));
  if (operand(index).negated) ins.invert_last();
}

void Decoding::bind_destination() {
  ins.written.push_back(operands.destination(operand(0)));
  if (!operand(0).second.empty())
    ins.written.push_back(operands.predicate(operand(0).second));
}

void Decoding::bind_predicates() {
  ins.written = {operands.predicate(operand(0).text),
                 operands.predicate(operand(0).second)};
}

void Decoding::bind(int a, int b, int c, int d) {
  bind_destination();
  size_t index = 0;
  for (const int bytes : {a, b, c, d})
    if (bytes) read(++index, bytes);
}

void decode_arithmetic(const Statement& s, OperandReader& operands,
                       Draft& ins) {
  static const Family* const kFamilies[] = {
      &move_family(),        &integer_family(), &logic_family(),
      &float_family(),       &select_family(),  &convert_family(),
      &extreme_family(),     &bits_family(),    &video_family(),
      &approximate_family(), &half_family()};
  for (const Family* family : kFamilies) {
    const auto rule = family->rules.find(s.name());
    if (rule == family->rules.end()) continue;
    const bool typed = !family->kinds.empty();
    Decoding decoding(s, operands, ins, typed);
    if (typed && (!decoding.type.kind ||
                  family->kinds.find(decoding.type.kind) == family->kinds.npos))
      continue;
    rule->second(decoding);
    return decoding.finish();
  }
  Decoding(s, operands, ins, true).unsupported();
}

}  // namespace simt
