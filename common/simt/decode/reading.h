// What the analyses ask of an instruction: what it is, what it reads and
// writes, and what comes after it.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "common/simt/core/program.h"
#include "common/simt/decode/dominators.h"

namespace simt {

bool is(const Instruction& ins, const char* name);
// A kernel's parameter is no load: it is a constant, copied.
bool is_load(const Instruction& ins);
bool is_store(const Instruction& ins);
// A compare-and-swap.
bool is_swap(const Instruction& ins);
// Of a register, or of a kernel's parameter. A mov may also take apart or join.
bool copies(const Instruction& ins);
// Of a condition, which may be negated on the way, or joined with another.
bool hands_on_condition(const Instruction& ins);
// `x == c`, or its opposite: what a comparison compares the place with.
std::optional<Place> equal_to(const Instruction& compare, Place place);
// Memory that other threads may write.
bool meets_others(Space space);
// An atomic that only reads: it adds nothing, or sets no bit.
bool only_reads(const Instruction& ins, const Program& program);

std::vector<Place> written(const Instruction& ins);
std::vector<Place> read(const Instruction& ins);

// The instructions that come after those of `open`, with themselves, on ways
// that do not go on behind one for which `ends`.
template <class Ends>
std::vector<bool> reach(const Function& f, std::vector<uint32_t> open,
                        Ends ends) {
  std::vector<bool> seen(f.code.size());
  while (!open.empty()) {
    const uint32_t pc = open.back();
    open.pop_back();
    if (seen[pc]) continue;
    seen[pc] = true;
    if (ends(pc)) continue;
    for (uint32_t next : successors(f, pc)) open.push_back(next);
  }
  return seen;
}

// Which instructions read a place, or are guarded by it.
class Readers {
 public:
  explicit Readers(const Function& f) {
    for (uint32_t pc = 0; pc < f.code.size(); ++pc) {
      for (Place p : read(f.code[pc])) of_[p].push_back(pc);
      if (f.code[pc].guard != kNowhere) of_[f.code[pc].guard].push_back(pc);
    }
  }
  std::span<const uint32_t> of(Place place) const {
    const auto known = of_.find(place);
    if (known == of_.end()) return {};
    return known->second;
  }

 private:
  std::map<Place, std::vector<uint32_t>> of_;
};

}  // namespace simt
