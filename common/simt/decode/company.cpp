// The model of ptxas: whether a load behind a branch would wait in company.
#include "common/simt/decode/company.h"

#include <algorithm>

#include "common/simt/decode/reading.h"

namespace simt {
namespace {

constexpr uint32_t kNear = 40;  // how long an `if` may be that we look through

bool any_of(const std::vector<Place>& places, const std::set<Place>& set) {
  return std::ranges::any_of(places,
                             [&](Place place) { return set.contains(place); });
}

void add(std::set<Place>& set, const std::vector<Place>& places) {
  set.insert(places.begin(), places.end());
}

bool meets(const Instruction& ins) {
  return ins.kind == Kind::kBarrier || ins.kind == Kind::kCollective;
}

// To shared memory a store may wait for what comes behind it.
bool has_effects(const Instruction& ins) {
  return meets(ins) || (is_store(ins) && !is_shared(ins)) ||
         (ins.statement && ins.statement->is_atomic());
}

// Of two instructions: an address that is no product and a sum.
bool is_long_sum(const Instruction& ins) {
  return is(ins, "add") && ins.machine_weight > 1;
}

// Not a condition, nor an address, unless that takes two instructions.
bool fills_time(const Instruction& ins) {
  if (!ins.pure || ins.machine_weight == 0 || copies(ins) || is(ins, "setp") ||
      ins.statement->has("wide"))
    return false;
  const Type type = ins.statement->type();
  return type.is_float() || type.bytes < 8 || is_long_sum(ins);
}

}  // namespace

Company::Company(const std::vector<Instruction>& code)
    : code_(code),
      heads_(code.size() + 1),
      first_to_(code.size() + 1, kNobody) {
  while (first_shared_ < code.size() && !is_shared(code[first_shared_]))
    ++first_shared_;
  for (uint32_t pc = code.size(); pc-- > 0;)
    if (code[pc].kind == Kind::kBranch) {
      first_to_[code[pc].target] = pc;
      if (code[pc].target <= pc) heads_[code[pc].target] = true;
    }
}

bool Company::of(uint32_t branch, const std::set<Place>& results, int enough) {
  loads_before_ = ends_ = false;
  filled_ = 0;
  return waits_before(branch) || waits_after(branch, results) ||
         filled_ >= enough || (ends_ && loads_before_);
}

bool Company::may_look_behind(uint32_t pc, uint32_t branch) const {
  const Instruction& ins = code_[pc];
  if (ins.kind == Kind::kBranch)
    return ins.target > pc && ins.target <= branch && ins.target - pc <= kNear;
  return ins.kind == Kind::kPlain || ins.kind == Kind::kCollective;
}

bool Company::waits_before(uint32_t branch) {
  std::set<Place> needed = {code_[branch].guard};
  for (uint32_t pc = branch; pc-- > 0 && may_look_behind(pc, branch);) {
    const Instruction& ins = code_[pc];
    const bool is_needed = has_effects(ins) || any_of(written(ins), needed);
    if (is_needed) add(needed, read(ins));
    if (loads_global(ins)) loads_before_ = true;
    if (loads_global(ins) && !is_needed) return true;
    if (ins.kind == Kind::kCollective) return true;
    if (heads_[pc]) break;
  }
  return false;
}

bool Company::waits_after(uint32_t branch, std::set<Place> results) {
  const uint32_t meeting = code_[branch].reconverge;
  for (uint32_t pc = meeting; pc < code_.size(); ++pc) {
    while (is_jump(code_[pc]) && code_[pc].target > pc) pc = code_[pc].target;
    if (pc > meeting && first_to_[pc] < branch) return false;
    const Instruction& ins = code_[pc];
    if (ins.kind == Kind::kBranch &&
        !(ins.statement && ins.statement->left_out) &&
        !(ins.predicated && ins.skips_if_taken + ins.skips_if_not > 0))
      return false;
    if (ins.kind == Kind::kReturn || ins.kind == Kind::kExit) {
      ends_ = ins.guard == kNowhere;
      return false;
    }
    if (is_shared(ins) && first_shared_ >= meeting) return true;
    filled_ += fills_time(ins) * (is_long_sum(ins) ? 2 : 1);
    if (any_of(read(ins), results)) {
      add(results, written(ins));
    } else if (loads_global(ins) || is_shared(ins) ||
               ins.kind == Kind::kCollective) {
      return true;
    }
  }
  return false;
}

}  // namespace simt
