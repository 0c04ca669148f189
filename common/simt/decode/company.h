// The model of ptxas, what a branch spares: a load behind it makes its lanes
// wait, and under a predicate it would make all wait. Where others wait anyway
// for something else, in company, that costs nothing.
#pragma once
#include <cstdint>
#include <set>
#include <vector>

#include "common/simt/core/program.h"

namespace simt {

bool loads_global(const Instruction& ins);
bool is_shared(const Instruction& ins);
// An unconditional jump.
bool is_jump(const Instruction& ins);

class Company {
 public:
  explicit Company(const std::vector<Instruction>& code);

  // Does anything else wait near this branch, whose sides write `results`? Has
  // to be asked from the last branch to the first, for what has become a
  // predicate lets us look further. Or are there `enough` instructions behind
  // it to fill the time?
  bool of(uint32_t branch, const std::set<Place>& results, int enough);

 private:
  // In front of it: a load whose value nobody needs yet.
  bool waits_before(uint32_t branch);
  bool may_look_behind(uint32_t pc, uint32_t branch) const;
  // Behind it: what waits, and not for `results`.
  bool waits_after(uint32_t branch, std::set<Place> results);

  const std::vector<Instruction>& code_;
  std::vector<bool> heads_;  // of loops
  static constexpr uint32_t kNobody = ~0u;
  std::vector<uint32_t> first_to_;  // the first branch that leads to each
  uint32_t first_shared_ = 0;  // access: where shared memory is takes long, too
  bool loads_before_ = false, ends_ = false;
  int filled_ = 0;
};

}  // namespace simt
