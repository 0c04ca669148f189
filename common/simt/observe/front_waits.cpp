// Tells which threads may be ahead of the kernel in front.
#include "common/simt/observe/front_waits.h"

#include <algorithm>

namespace simt {

void FrontWaits::start(size_t warps) {
  waits_.clear();
  waited_.assign(warps, 0);
  lets_next_begin_ = false;
}

void FrontWaits::wait(const Warp& warp, uint32_t mask, EventLog& log) {
  uint32_t& waited = waited_[warp.index];
  if (mask & ~waited)
    waits_.push_back({warp.index, first_lane(mask), log.add(Event{})});
  waited |= mask;
}

uint32_t FrontWaits::early(const Warp& warp, const BlockOrder& block,
                           uint32_t mask) {
  uint32_t& waited = waited_[warp.index];
  for (uint32_t rest = mask & ~waited; rest; rest &= rest - 1) {
    const int lane = first_lane(rest);
    if (std::ranges::any_of(waits_, [&](const Wait& wait) {
          return comes_behind(warp, block, lane, wait);
        }))
      waited |= 1u << lane;
  }
  return mask & ~waited;
}

void FrontWaits::let_next_begin(const Warp& warp, const BlockOrder& block,
                                uint32_t mask) {
  if (early(warp, block, mask)) lets_next_begin_ = true;
}

// By a barrier, a collective or a flag. What was learned from another block by
// flags may have come behind its wait: nothing is said then.
bool FrontWaits::comes_behind(const Warp& warp, const BlockOrder& block,
                              int lane, const Wait& wait) {
  const WarpOrder& order = block.warps[warp.index];
  return order.taught || wait.time < block.met ||
         wait.time < block.known_across(warp.index, wait.warp) ||
         wait.time < order.heard_of(lane, wait.warp * kLanes + wait.lane) ||
         (wait.warp == warp.index &&
          wait.time < order.known_of(lane, wait.lane));
}

}  // namespace simt
