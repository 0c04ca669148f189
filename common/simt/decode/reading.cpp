// Reads instructions, one by one.
#include "common/simt/decode/reading.h"

#include <algorithm>

namespace simt {

bool is(const Instruction& ins, const char* name) {
  return ins.statement && ins.statement->name() == name;
}
bool is_load(const Instruction& ins) {
  return !ins.pure && (is(ins, "ld") || is(ins, "ldu"));
}
bool is_store(const Instruction& ins) {
  return is(ins, "st") && !ins.statement->has("async");
}
bool copies(const Instruction& ins) {
  return ins.pure && (is(ins, "mov") || is(ins, "ld")) &&
         ins.result_count == 1 && ins.source_count == 1;
}
bool hands_on_condition(const Instruction& ins) {
  return ins.pure && ins.statement->has("pred") &&
         (is(ins, "mov") || is(ins, "not") || is(ins, "and") || is(ins, "or") ||
          is(ins, "xor"));
}
std::optional<Place> equal_to(const Instruction& compare, Place place) {
  const bool equality =
      compare.relation == Relation::kEq || compare.relation == Relation::kNe;
  if (!is(compare, "setp") || !equality || compare.source_count != 2 ||
      compare.result(1) != kNowhere)
    return {};
  if (compare.source(0) == place) return compare.source(1);
  if (compare.source(1) == place) return compare.source(0);
  return {};
}
bool meets_others(Space space) {
  return space != Space::kLocal && space != Space::kParam &&
         space != Space::kConst;
}
bool only_reads(const Instruction& ins, const Program& program) {
  return is(ins, "atom") &&
         (ins.statement->has("add") || ins.statement->has("or")) &&
         ins.source_count == 1 && program.zeros.contains(ins.source(0));
}
bool is_swap(const Instruction& ins) {
  return is(ins, "atom") && ins.statement->has("cas");
}

std::vector<Place> written(const Instruction& ins) {
  std::vector<Place> places(ins.results().begin(), ins.results().end());
  std::erase(places, kNowhere);
  return places;
}

std::vector<Place> read(const Instruction& ins) {
  std::vector<Place> places(ins.sources().begin(), ins.sources().end());
  for (const Address& a : ins.addresses()) places.push_back(a.base);
  std::erase(places, kNowhere);
  return places;
}

}  // namespace simt
