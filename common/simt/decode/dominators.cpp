// Dominators by the iteration of Cooper, Harvey and Kennedy ("A simple, fast
// dominance algorithm", 2001), as post-dominators are in control_flow.cpp.
#include "common/simt/decode/dominators.h"

#include <utility>

#include "common/simt/decode/postorder.h"

namespace simt {
namespace {

constexpr uint32_t kNone = ~0u;

// By ranks in postorder: the immediate dominator of each, of the last itself.
std::vector<uint32_t> immediate(
    const std::vector<std::vector<uint32_t>>& before) {
  const uint32_t last = static_cast<uint32_t>(before.size() - 1);
  std::vector<uint32_t> dominator(before.size(), kNone);
  dominator[last] = last;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t at = last; at-- > 0;) {
      uint32_t meet = kNone;
      for (uint32_t from : before[at]) {
        if (dominator[from] == kNone) continue;
        if (meet == kNone) meet = from;
        while (meet != from)
          (meet < from ? meet : from) = dominator[meet < from ? meet : from];
      }
      changed |= std::exchange(dominator[at], meet) != meet;
    }
  }
  return dominator;
}

}  // namespace

std::vector<uint32_t> successors(const Function& f, uint32_t pc) {
  const Instruction& ins = f.code[pc];
  std::vector<uint32_t> next(ins.targets().begin(), ins.targets().end());
  if (ins.kind == Kind::kBranch) next.push_back(ins.target);
  const bool leaves = ins.kind == Kind::kBranch || ins.kind == Kind::kTable ||
                      ins.kind == Kind::kReturn || ins.kind == Kind::kExit;
  if ((!leaves || ins.guard != kNowhere) && pc + 1 < f.code.size())
    next.push_back(pc + 1);
  return next;
}

Dominators::Dominators(const Function& f) : spans_(f.code.size()) {
  if (f.code.empty()) return;
  std::vector<std::vector<uint32_t>> next(f.code.size());
  for (uint32_t pc = 0; pc < f.code.size(); ++pc) next[pc] = successors(f, pc);
  const std::vector<uint32_t> order = postorder(next, 0u);
  std::vector<uint32_t> rank(f.code.size(), kNone);
  for (uint32_t k = 0; k < order.size(); ++k) rank[order[k]] = k;
  std::vector<std::vector<uint32_t>> before(order.size());
  for (uint32_t pc : order)
    for (uint32_t to : next[pc]) before[rank[to]].push_back(rank[pc]);
  const std::vector<uint32_t> dominator = immediate(before);
  // A dominator's rank is above those of all that it dominates: sizes add up
  // from below, and places are given from above.
  std::vector<uint32_t> size(order.size(), 1), place(order.size());
  for (uint32_t k = 0; k + 1 < order.size(); ++k) size[dominator[k]] += size[k];
  for (uint32_t k = static_cast<uint32_t>(order.size()); k-- > 0;) {
    const bool first = k + 1 == order.size();
    const uint32_t begin = first ? 0 : place[dominator[k]];
    if (!first) place[dominator[k]] += size[k];
    place[k] = begin + 1;
    spans_[order[k]] = {begin, begin + size[k]};
  }
}

}  // namespace simt
