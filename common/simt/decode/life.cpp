// Follows a value from instruction to instruction.
#include "common/simt/decode/life.h"

#include <algorithm>
#include <utility>

#include "common/simt/decode/reading.h"

namespace simt {
namespace {

bool any_of(const std::vector<Place>& places, const Places& set) {
  return std::any_of(places.begin(), places.end(),
                     [&](Place p) { return set.contains(p); });
}

void mark(Places& places, Place p, const Instruction& ins, bool in) {
  if (in)
    places.insert(p);
  else if (ins.guard == kNowhere)
    places.erase(p);
}

}  // namespace

Life::Life(const Function& f, const Definitions& definitions, uint32_t load,
           bool whole)
    : f_(f),
      definitions_(definitions),
      load_(load),
      address_(definitions.address(f.code[load])) {
  State first;
  for (Place p : written(f.code[load])) first.values.insert(p);
  arrive(load, first);
  // An escape ends it, and most lie behind all loops: what comes last in the
  // code is looked at first.
  while (!open_.empty() && (whole || !escapes)) {
    const uint32_t pc = *open_.rbegin();
    open_.erase(pc);
    step(pc, states_[pc]);
  }
  escapes |=
      !std::ranges::all_of(stored_, [&](uint32_t pc) { return is_redone(pc); });
}

bool Life::State::merge(const State& other) {
  const bool moves = other.moved && !moved;
  moved |= other.moved;
  const bool valued = values.merge(other.values);
  return answers.merge(other.answers) || valued || moves;
}

// The state behind `pc` reaches those that follow.
void Life::arrive(uint32_t pc, const State& state) {
  if (state.values.empty()) return;
  for (uint32_t next : successors(f_, pc)) {
    const auto [at, fresh] = states_.try_emplace(next);
    if (at->second.merge(state) || fresh) open_.insert(next);
  }
}

void Life::step(uint32_t pc, State state) {
  const Instruction& ins = f_.code[pc];
  const std::vector<Place> sources = read(ins);
  const bool touched = any_of(sources, state.values);
  const bool guarded = state.values.contains(ins.guard);
  const bool answered = any_of(sources, state.answers);
  // Behind the comparison the value is what was there, or is given up.
  if (is(ins, "setp") && touched && answered) return;
  if (guarded) decided.insert(pc);
  const bool verifies = touched && verified_by(ins, state);
  if (verifies) verified_.insert(pc);
  swapped |= verifies;
  if (touched && !verifies) use(pc, ins, state);
  state.moved |= pc != load_ && definitions_.moves(ins, address_);
  for (Place p : written(ins)) {
    mark(state.values, p, ins, (touched && !verifies) || guarded);
    mark(state.answers, p, ins, verifies || answered);
  }
  if (pc == load_)
    for (Place p : written(ins)) state.values.insert(p);
  arrive(pc, state);
}

void Life::use(uint32_t pc, const Instruction& ins, const State& state) {
  if (may_be_redone(ins, state)) {
    stored_.insert(pc);
  } else if (!ins.pure || ins.gives_carry) {
    escapes = true;
  } else if (is(ins, "setp")) {
    compared.insert(pc);
  } else if (!copies(ins) && !hands_on_condition(ins)) {
    computed = true;
  }
}

// A new node of a list: its `next` is stored before the swap, and again after a
// swap that failed.
bool Life::may_be_redone(const Instruction& ins, const State& state) {
  if (!is_store(ins) || ins.strength != Strength::kWeak ||
      state.values.contains(ins.address().base))
    return false;
  if (!is_swapped_)
    is_swapped_ = std::ranges::any_of(f_.code, [&](const Instruction& other) {
      return is_swap(other) && definitions_.address(other) == address_;
    });
  return *is_swapped_;
}

// Is what the store has stored either verified or stored over?
bool Life::is_redone(uint32_t store) const {
  return std::ranges::any_of(verified_, [&](uint32_t swap) {
    const std::vector<uint32_t> failed = after_failure(swap);
    return !failed.empty() && surely_reaches(successors(f_, store), swap) &&
           surely_reaches(failed, store);
  });
}

// On no way from there does the thread end before.
bool Life::surely_reaches(std::vector<uint32_t> from, uint32_t to) const {
  const std::vector<bool> seen =
      reach(f_, std::move(from), [&](uint32_t pc) { return pc == to; });
  for (uint32_t pc = 0; pc < seen.size(); ++pc)
    if (seen[pc] &&
        (f_.code[pc].kind == Kind::kReturn || f_.code[pc].kind == Kind::kExit))
      return false;
  return true;
}

// Where the thread goes on if the swap has not found what it was to find; none:
// that is not seen.
std::vector<uint32_t> Life::after_failure(uint32_t swap) const {
  const Instruction& ins = f_.code[swap];
  for (const Instruction& compare : f_.code) {
    if (!is(compare, "setp") ||
        equal_to(compare, ins.result(0)) != ins.source(0))
      continue;
    for (uint32_t pc = 0; pc < f_.code.size(); ++pc) {
      const Instruction& branch = f_.code[pc];
      if (branch.kind != Kind::kBranch || branch.guard != compare.result(0) ||
          !surely_reaches(successors(f_, swap), pc))
        continue;
      const bool taken_if_equal =
          (compare.relation == Relation::kEq) != branch.guard_negated;
      return {taken_if_equal ? pc + 1 : branch.target};
    }
  }
  return {};
}

// Who does not look whether the swap failed has verified nothing.
bool Life::is_looked_at(const Instruction& swap) const {
  return std::ranges::any_of(f_.code, [&](const Instruction& ins) {
    const auto places = read(ins);
    return std::ranges::any_of(swap.results(), [&](Place p) {
      return std::ranges::find(places, p) != places.end();
    });
  });
}

bool Life::verified_by(const Instruction& ins, const State& state) const {
  return is_swap(ins) && !state.moved && state.values.contains(ins.source(0)) &&
         !state.values.contains(ins.address().base) &&
         ins.element_bytes == loaded_bytes() &&
         definitions_.address(ins) == address_ && is_looked_at(ins);
}

// 128 bits are loaded as two halves.
int Life::loaded_bytes() const {
  const Instruction& load = f_.code[load_];
  return load.element_bytes * load.result_count;
}

}  // namespace simt
