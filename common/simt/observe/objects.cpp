// Finds the accesses that copy one object.
#include "common/simt/observe/objects.h"

#include <algorithm>
#include <set>
#include <span>
#include <vector>

#include "common/simt/core/literals.h"

namespace simt {
namespace {

int64_t bytes_of_access(const Instruction& ins) {
  return int64_t{ins.element_bytes} *
         std::max(ins.result_count, ins.source_count);
}

// Does the same line of the source do the same?
bool is_of_line(const Instruction& ins, const Instruction& access) {
  return ins.statement && ins.address_count == 1 && !ins.pure &&
         ins.statement->name() == access.statement->name() &&
         ins.where.line == access.where.line &&
         ins.where.file == access.where.file && ins.guard == access.guard;
}

// The code in which its line is looked for; where the compiler told no lines,
// the instructions up to where control may come or go.
std::span<const Instruction> beside(const Function& function,
                                    const Instruction& access) {
  const std::span<const Instruction> all = function.code;
  if (access.where.line) return all;
  size_t first = &access - all.data();
  while (first > 0 && all[first].counted == 0) --first;
  const size_t count = std::max<size_t>(all[first].counted, 1);
  return all.subspan(first, count);
}

}  // namespace

Objects::Part Objects::around(const Instruction& access) {
  const auto [known, fresh] = parts_.try_emplace(access.site);
  if (fresh) find(access, known->second);
  return known->second;
}

const Objects::Sums& Objects::sums_of(const Function& function) {
  const auto [known, fresh] = sums_.try_emplace(&function);
  Sums& sums = known->second;
  if (!fresh) return sums;
  const std::set<Place> once = function.written_once();
  for (const Instruction& ins : function.code) {
    if (!ins.statement || ins.statement->name() != "add" ||
        ins.guard != kNowhere || !once.contains(ins.result(0)))
      continue;
    const auto number = parse_literal(ins.statement->operands[2].text);
    if (number && number->is_integer())
      sums[ins.result(0)] = {ins.source(0), static_cast<int64_t>(number->bits)};
  }
  return sums;
}

// Not optimised, each part of a struct has an address of its own.
Objects::Base Objects::base_of(const Function& function,
                               const Instruction& access) {
  constexpr int kMostSums = 8;  // A loop may add to its own sum.
  const Sums& sums = sums_of(function);
  Base base{access.address().base, access.address().offset};
  for (int k = 0; k < kMostSums; ++k) {
    const auto sum = sums.find(base.place);
    if (sum == sums.end()) break;
    base = {sum->second.place, base.offset + sum->second.offset};
  }
  return base;
}

// Between two parts lies padding, up to where the second is aligned.
void Objects::find(const Instruction& access, Part& part) {
  part.end = bytes_of_access(access);
  if (access.address_count != 1) return;
  const Function& function = program_.function_of(access);
  const Base base = base_of(function, access);
  std::vector<Part> others;
  for (const Instruction& ins : beside(function, access)) {
    if (!is_of_line(ins, access)) continue;
    const Base other = base_of(function, ins);
    const int64_t at = other.offset - base.offset;
    if (other.place == base.place)
      others.push_back({at, at + bytes_of_access(ins)});
  }
  const auto is_beside = [](const Part& one, const Part& behind) {
    const int64_t gap = behind.begin - one.end;
    return gap < std::min<int64_t>(behind.bytes(), 8);
  };
  for (int64_t before = 0; before != part.bytes();) {
    before = part.bytes();
    for (const Part& other : others) {
      if (!is_beside(part, other) || !is_beside(other, part)) continue;
      part.begin = std::min(part.begin, other.begin);
      part.end = std::max(part.end, other.end);
    }
  }
}

}  // namespace simt
