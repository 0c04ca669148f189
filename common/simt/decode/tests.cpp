// Finds what a tested word decides, and with what it is compared.
#include "common/simt/decode/tests.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "common/simt/decode/consequences.h"

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

// What must have been asked of the loaded value, `loaded < with`, for the
// instruction to be done; or kEq.
Relation asked_for(const Function& f, const Instruction& compare,
                   const Instruction& decides, Place loaded, uint32_t done) {
  const bool on_taken = decides.kind != Kind::kBranch ||
                        leads_to(f, decides, decides.target, done);
  const bool holds = on_taken != decides.guard_negated;
  const bool turned = compare.source(1) == loaded;
  const bool smaller =
      compare.relation == Relation::kLt || compare.relation == Relation::kLe;
  const bool larger =
      compare.relation == Relation::kGt || compare.relation == Relation::kGe;
  if (!smaller && !larger) return Relation::kEq;
  return (smaller != turned) == holds ? Relation::kLt : Relation::kGt;
}

// An atomic minimum or maximum of the loaded word with a number, of whose
// result nobody takes notice.
bool is_extreme(const Instruction& ins, const Instruction& load,
                const Definitions& definitions, const Readers& readers) {
  if (!(is(ins, "atom") || is(ins, "red")) ||
      !(ins.statement->has("min") || ins.statement->has("max")) ||
      ins.source_count != 1 || ins.element_bytes != load.element_bytes ||
      definitions.address(ins) != definitions.address(load))
    return false;
  return std::ranges::all_of(written(ins),
                             [&](Place p) { return readers.of(p).empty(); });
}

// Where a branch (or guard) goes on that has `compare` for its condition: is
// `pc` reached only if what is compared is equal?
bool only_if_equal(const Function& f, const Instruction& compare,
                   uint32_t decides, uint32_t pc) {
  if (!guards(f, decides, pc)) return false;
  const Instruction& ins = f.code[decides];
  const bool on_taken =
      ins.kind != Kind::kBranch || leads_to(f, ins, ins.target, pc);
  return (on_taken != ins.guard_negated) == (compare.relation == Relation::kEq);
}

// What is done only if the compare-and-swap has found what it was to find.
std::vector<bool> behind_success(const Function& f,
                                 const Definitions& definitions,
                                 const Readers& readers, uint32_t swap) {
  std::vector<bool> behind(f.code.size());
  const Place found = f.code[swap].result(0);
  const Place wanted = definitions.fixed(f.code[swap].source(0));
  for (const uint32_t asked : readers.of(found)) {
    const Instruction& compare = f.code[asked];
    const auto with = equal_to(compare, found);
    if (!with || definitions.fixed(*with) != wanted) continue;
    for (const uint32_t decides : readers.of(compare.result(0)))
      for (uint32_t pc = 0; pc < f.code.size(); ++pc)
        if (f.code[decides].guard == compare.result(0) &&
            only_if_equal(f, compare, decides, pc))
          behind[pc] = true;
  }
  return behind;
}

// `*p == c && atomicCAS(p, c, mine) == c`, and all that is done is done because
// of the swap. An old value makes it fail, or takes the place of its failure.
bool is_before_swap(const Function& f, const Definitions& definitions,
                    const Readers& readers, uint32_t load, const Life& life) {
  const Instruction& compare = f.code[*life.compared.begin()];
  const uint32_t decides = *life.decided.begin();
  const auto with = equal_to(compare, f.code[load].result(0));
  if (!with || f.code[decides].guard != compare.result(0)) return false;
  for (uint32_t pc = 0; pc < f.code.size(); ++pc) {
    const Instruction& ins = f.code[pc];
    if (is_swap(ins) && ins.element_bytes == f.code[load].element_bytes &&
        definitions.address(ins) == definitions.address(f.code[load]) &&
        definitions.fixed(ins.source(0)) == definitions.fixed(*with) &&
        only_if_equal(f, compare, decides, pc) &&
        Consequences(f, definitions, readers, load, pc,
                     behind_success(f, definitions, readers, pc))
                .besides() == "")
      return true;
  }
  return false;
}

}  // namespace

Guess guess_before_atomic(const Function& f, const Definitions& definitions,
                          const Readers& readers, uint32_t load,
                          const Life& life) {
  if (life.computed || life.compared.size() != 1 || life.decided.size() != 1)
    return Guess::kNone;
  if (is_before_swap(f, definitions, readers, load, life))
    return Guess::kVerified;
  const Instruction& compare = f.code[*life.compared.begin()];
  const Instruction& decides = f.code[*life.decided.begin()];
  const Place loaded = f.code[load].result(0);
  const bool first = compare.source(0) == loaded;
  if (compare.source(first) == loaded || compare.source(!first) != loaded ||
      decides.guard != compare.result(0) || compare.source_count != 2)
    return Guess::kNone;
  const Type type = compare.statement->type();
  const Place with = definitions.fixed(compare.source(first));
  for (uint32_t pc = 0; pc < f.code.size(); ++pc) {
    const Instruction& ins = f.code[pc];
    if (!is_extreme(ins, f.code[load], definitions, readers) ||
        !guards(f, *life.decided.begin(), pc) ||
        definitions.fixed(ins.source(0)) != with ||
        ins.statement->type().is_signed() != type.is_signed() ||
        ins.statement->type().is_float() || type.is_float() ||
        ins.statement->type().bytes != type.bytes)
      continue;
    const bool min = ins.statement->has("min");
    const Relation larger = min ? Relation::kGt : Relation::kLt;
    if (asked_for(f, compare, decides, loaded, pc) == larger &&
        Consequences(f, definitions, readers, load, pc).besides() == "")
      return min ? Guess::kBeforeMin : Guess::kBeforeMax;
  }
  return Guess::kNone;
}

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
  return {asked, on_taken != branch.guard_negated, 0, 0, {}};
}

}  // namespace simt
