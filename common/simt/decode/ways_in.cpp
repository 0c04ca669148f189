// See ways_in.h: dominators, and what lies between.
#include "common/simt/decode/ways_in.h"

#include <algorithm>
#include <set>

#include "common/simt/decode/analysis.h"

namespace simt {
namespace {

constexpr int kFarthest = 64;  // blocks back that are looked at

}  // namespace

WaysIn::WaysIn(const Function& f) : dominators_(f) {
  const std::vector<bool> leads = block_starts(f.code);
  std::vector<int> block_at(f.code.size());
  for (uint32_t pc = 0; pc < f.code.size(); ++pc) {
    if (leads[pc]) first_.push_back(pc);
    block_at[pc] = static_cast<int>(first_.size()) - 1;
  }
  const int count = static_cast<int>(first_.size());
  first_.push_back(static_cast<uint32_t>(f.code.size()));
  before_.resize(count);
  for (int b = 0; b < count; ++b)
    for (uint32_t pc : successors(f, end(b) - 1)) {
      const int next = block_at[pc];
      before_[next].push_back(b);
      if (next <= b) loops_.push_back({next, b});
    }
  ways_.resize(count);
  for (int b = 1; b < count; ++b) {
    int from = b - 1;
    while (from > b - kFarthest && from > 0 &&
           !dominators_.dominates(begin(from), begin(b)))
      --from;
    if (dominators_.dominates(begin(from), begin(b)) && !before_[b].empty())
      ways_[b] = find(b, from);
  }
}

std::optional<WaysIn::Way> WaysIn::find(int block, int from) const {
  if (leaves_loop(from, block)) return {};
  std::set<int> between;
  std::vector<int> open = before_[block];
  while (!open.empty()) {
    const int one = open.back();
    open.pop_back();
    if (one == from || !between.insert(one).second) continue;
    if (one == block || leaves_loop(one, block) || between.size() > kFarthest)
      return {};
    open.insert(open.end(), before_[one].begin(), before_[one].end());
  }
  return Way{from, {between.begin(), between.end()}};
}

bool WaysIn::leaves_loop(int from, int to) const {
  return std::ranges::any_of(loops_, [&](const auto& loop) {
    const auto is_in = [&](int b) {
      return loop.first <= b && b <= loop.second;
    };
    return is_in(from) && !is_in(to);
  });
}

}  // namespace simt
