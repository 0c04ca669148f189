// Finds what a tested word decides, and with what it is compared.
#include "common/simt/decode/tests.h"

#include <iterator>
#include <map>

namespace simt {
namespace {

// Does control come from `first`, a successor of the branch, to `store` before
// the sides of the branch meet again?
bool leads_to(const Function& f, const Instruction& branch, uint32_t first,
              uint32_t store) {
  return first != branch.reconverge && reach(f, {first}, [&](uint32_t at) {
           return at == branch.reconverge;
         })[store];
}

// Does the branch (or guard) at `pc` decide whether `store` is reached?
bool guards(const Function& f, uint32_t pc, uint32_t store) {
  const Instruction& ins = f.code[pc];
  if (ins.kind != Kind::kBranch) return pc == store;
  return leads_to(f, ins, ins.target, store) != leads_to(f, ins, pc + 1, store);
}

}  // namespace

std::optional<uint32_t> store_of(const Function& f,
                                 const Definitions& definitions, uint32_t load,
                                 const Life& life) {
  const Instruction& from = f.code[load];
  const Definitions::Origin address = definitions.address(from);
  const std::vector<bool> behind =
      reach(f, successors(f, load), [&](uint32_t pc) {
        return pc == load || definitions.moves(f.code[pc], address);
      });
  for (uint32_t pc = 0; pc < f.code.size(); ++pc) {
    const Instruction& ins = f.code[pc];
    if (!behind[pc] || !is_store(ins) || ins.strength != Strength::kWeak ||
        ins.element_bytes != from.element_bytes || ins.source_count != 1 ||
        definitions.address(ins) != address)
      continue;
    for (uint32_t branch : life.decided)
      if (guards(f, branch, pc)) return pc;
  }
  return {};
}

std::optional<Comparison> simple_comparison(const Instruction& ins) {
  if (!is(ins, "setp") || ins.statement->op.size() != 3 ||
      ins.result(1) != kNowhere)
    return {};
  const Type type = ins.statement->type();
  const bool whole = type.is('s') || type.is('u') || type.is('b');
  if (!whole || type.is_float() || type.bytes > 4) return {};
  return Comparison{ins.relation, type.bytes, type.is_signed(), ins.source(1)};
}

std::vector<Comparison> comparisons_of(const Function& f,
                                       const Definitions& definitions,
                                       uint32_t load, const Life& life) {
  std::vector<Comparison> all;
  if (life.computed) return {};
  const Place value = f.code[load].result(0);
  for (uint32_t pc : life.compared) {
    const Instruction& ins = f.code[pc];
    auto comparison = simple_comparison(ins);
    const auto with = definitions.settled_sum(ins.source(1), load);
    if (!comparison || ins.source(0) != value || ins.source(1) == value ||
        !with)
      return {};
    comparison->with = with->place;
    comparison->added = with->added;
    all.push_back(*comparison);
  }
  return all;
}

std::vector<Test::Joined> joined_of(const Function& f, const Readers& readers,
                                    const Life& life) {
  std::vector<Test::Joined> all;
  std::map<uint32_t, std::vector<size_t>> joins;  // and which they join
  size_t number = 0;
  for (const uint32_t pc : life.compared) {
    const auto asking = readers.of(f.code[pc].result(0));
    if (asking.size() == 1) joins[asking[0]].push_back(number);
    ++number;
  }
  const auto answer = [&](size_t which) {
    return f.code[*std::next(life.compared.begin(), which)].result(0);
  };
  for (const auto& [pc, pair] : joins) {
    const Instruction& ins = f.code[pc];
    const bool both = is(ins, "and");
    if (pair.size() != 2 || !(both || is(ins, "or")) || ins.guard != kNowhere ||
        ins.source_count != 2)
      continue;
    const bool in_turn = ins.source(0) == answer(pair[0]);
    all.push_back(
        {pair[!in_turn], pair[in_turn], both, ins.inverts(0), ins.inverts(1)});
  }
  return all;
}

TestedStore asked_by(const Function& f, const Definitions& definitions,
                     Place value, const Life& life, uint32_t store) {
  if (life.computed || life.compared.size() != 1 || life.decided.size() != 1)
    return {};
  const Instruction& compare = f.code[*life.compared.begin()];
  const Instruction& branch = f.code[*life.decided.begin()];
  const Place with = definitions.fixed(compare.source(1));
  std::optional<Comparison> asked = simple_comparison(compare);
  if (!asked || compare.source(0) != value ||
      branch.guard != compare.result(0) || with >= kNowhere ||
      !definitions.uniform(with))
    return {};
  asked->with = with;
  // The predicate's value for the store.
  const bool on_taken =
      branch.kind != Kind::kBranch || leads_to(f, branch, branch.target, store);
  return {asked, on_taken != branch.guard_negated, 0, {}};
}

}  // namespace simt
