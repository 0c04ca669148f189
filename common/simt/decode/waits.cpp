// Looks for loops that end as soon as what they load is another value.
#include "common/simt/decode/waits.h"

#include <optional>
#include <set>

#include "common/simt/decode/life.h"
#include "common/simt/decode/reading.h"

namespace simt {
namespace {

// The smallest loop around `pc`, all that lies between a jump back and where it
// leads; empty if there is none. Two loops may begin at one place.
std::set<uint32_t> loop_around(const Function& f,
                               const Definitions& definitions, uint32_t pc) {
  std::vector<std::vector<uint32_t>> before(f.code.size());
  for (uint32_t at = 0; at < f.code.size(); ++at)
    for (uint32_t next : successors(f, at)) before[next].push_back(at);
  std::set<uint32_t> smallest;
  for (uint32_t first = 0; first <= pc; ++first) {
    for (uint32_t last : before[first]) {
      if (last < first || !definitions.dominates(first, last)) continue;
      std::set<uint32_t> loop = {first};
      std::vector<uint32_t> open = {last};
      while (!open.empty()) {
        const uint32_t at = open.back();
        open.pop_back();
        if (!loop.insert(at).second) continue;
        open.insert(open.end(), before[at].begin(), before[at].end());
      }
      const bool smaller = smallest.empty() || loop.size() < smallest.size();
      if (loop.contains(pc) && smaller) smallest = loop;
    }
  }
  return smallest;
}

// Is the load in a loop, always with the same address, that its value may end?
bool waits(const Function& f, const Definitions& definitions, uint32_t load,
           const Life& life) {
  const std::set<uint32_t> loop = loop_around(f, definitions, load);
  if (!definitions.stays(f.code[load].address().base, loop)) return false;
  for (uint32_t pc : life.decided) {
    if (!loop.contains(pc)) continue;
    const Kind kind = f.code[pc].kind;
    if (kind == Kind::kReturn || kind == Kind::kExit) return true;
    if (kind != Kind::kBranch) continue;
    for (uint32_t next : successors(f, pc))
      if (!loop.contains(next)) return true;
  }
  return false;
}

// Is there another way to what lies behind `first`, up to `last`?
bool jumps_between(const Function& f, uint32_t first, uint32_t last) {
  for (uint32_t pc = 0; pc < f.code.size(); ++pc)
    for (uint32_t next : successors(f, pc))
      if (next > first && next <= last && next != pc + 1) return true;
  return false;
}

// The branch that may end a wait for what is loaded at `pc`: so far only
// unguarded, pure instructions follow. Or nothing.
std::optional<uint32_t> next_branch(const Function& f, uint32_t pc) {
  uint32_t end = pc + 1;
  while (end < f.code.size() && f.code[end].pure &&
         f.code[end].guard == kNowhere)
    ++end;
  if (end == f.code.size()) return {};
  const Instruction& branch = f.code[end];
  if (branch.kind != Kind::kBranch || branch.guard == kNowhere ||
      jumps_between(f, pc, end))
    return {};
  return end;
}

}  // namespace

void find_flags(Function& f, const Definitions& definitions,
                const std::vector<uint32_t>& loads) {
  std::vector<uint32_t> asking, waiting;
  for (uint32_t pc : loads) {
    if (f.code[pc].strength != Strength::kVolatile) continue;
    const Life life(f, definitions, pc, true);
    if (life.decided.empty()) continue;
    asking.push_back(pc);
    if (waits(f, definitions, pc, life)) waiting.push_back(pc);
  }
  const auto same_place = [&](const Instruction& a, const Instruction& b) {
    return a.address().space == b.address().space &&
           definitions.address(a) == definitions.address(b);
  };
  // The compiler may ask once before the loop, and go on at once.
  for (uint32_t pc : asking)
    for (uint32_t other : waiting)
      if (same_place(f.code[pc], f.code[other]))
        f.code[pc].strength = Strength::kStrong;
}

void find_end(Function& f, const Definitions& definitions, uint32_t pc) {
  Instruction& ins = f.code[pc];
  const bool plain = ins.result_count == 1 && ins.result(0) != kNowhere &&
                     ins.guard == kNowhere;
  if (!plain || (ins.element_bytes != 4 && ins.element_bytes != 8) ||
      ins.element_bytes != f.widths.at(ins.result(0)))
    return;
  const auto end = next_branch(f, pc);
  if (!end) return;
  const Instruction& branch = f.code[*end];
  const Life life(f, definitions, pc, true);
  if (life.escapes || life.swapped || life.decided != std::set{*end}) return;
  const std::set<uint32_t> loop = loop_around(f, definitions, pc);
  const bool stays_if_taken = loop.contains(branch.target);
  if (!waits(f, definitions, pc, life) ||
      stays_if_taken == loop.contains(*end + 1))
    return;
  ins.waits = true;
  Wait& wait = f.waits[ins.site];
  wait = {*end, stays_if_taken == branch.guard_negated, {}};
  for (uint32_t at = pc; at < *end; ++at)
    for (Place place : written(f.code[at]))
      wait.written.emplace_back(place, f.widths.at(place));
}

}  // namespace simt
