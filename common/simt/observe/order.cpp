#include "common/simt/observe/order.h"

#include <algorithm>

namespace simt {

void WarpOrder::meet(uint32_t members, Time now) {
  if (acquired_most) {
    Time most = 0;
    for (int l = 0; l < kLanes; ++l)
      if (members >> l & 1) most = std::max(most, acquired[l]);
    for (int l = 0; l < kLanes; ++l)
      if (members >> l & 1) acquired[l] = most;
  }
  if ((lanes & ~members) == 0) {
    synced = now;
    partly = false;
    return;
  }
  if (!known) known = std::make_unique<decltype(known)::element_type>();
  if (!partly)
    for (auto& row : *known) row.fill(synced);
  partly = true;
  std::array<Time, kLanes> together{};
  for (int l = 0; l < kLanes; ++l) {
    if (!(members >> l & 1)) continue;
    for (int m = 0; m < kLanes; ++m)
      together[m] = std::max(together[m], (*known)[l][m]);
  }
  for (int l = 0; l < kLanes; ++l)
    if (members >> l & 1) together[l] = now;
  for (int l = 0; l < kLanes; ++l)
    if (members >> l & 1) (*known)[l] = together;
}

void WarpOrder::acquire(int lane, Time released) {
  acquired[lane] = std::max(acquired[lane], released);
  acquired_most = std::max(acquired_most, released);
}

void BlockOrder::start(uint32_t block, Time now) {
  number = block;
  met = now;
  across.clear();
  released.assign(warps.size(), 0);
  for (BarrierOrder& b : barriers) b = {};
  for (WarpOrder& w : warps) {
    w.synced = 0;
    w.block_fence = w.device_fence = {};
    w.partly = false;
    if (w.acquired_most) w.acquired.fill(0);
    w.acquired_most = 0;
  }
}

void BlockOrder::fence(uint32_t warp, bool for_device, Time now) {
  warps[warp].block_fence = {now, met};
  if (for_device) warps[warp].device_fence = {now, met};
}

void BlockOrder::meet(Time now) {
  met = now;
  Time most = 0;
  for (const WarpOrder& w : warps) most = std::max(most, w.acquired_most);
  if (most == 0) return;
  for (WarpOrder& w : warps) {
    w.acquired.fill(most);
    w.acquired_most = most;
  }
}

void BlockOrder::come(uint32_t barrier, uint32_t warp, Time now) {
  const size_t n = warps.size();
  if (across.empty()) across.resize(n * n);
  std::vector<Time>& known = barriers[barrier].known;
  known.resize(n);
  for (size_t v = 0; v < n; ++v)
    known[v] = std::max(known[v], across[warp * n + v]);
  known[warp] = now;
}

void BlockOrder::go(uint32_t barrier, uint32_t warp) {
  const std::vector<Time>& known = barriers[barrier].known;
  for (size_t v = 0; v < known.size(); ++v) {
    Time& mine = across[warp * known.size() + v];
    mine = std::max(mine, known[v]);
  }
  if (known.empty()) return;
  // Its own lanes have met there as well.
  Time& synced = warps[warp].synced;
  synced = std::max(synced, known[warp]);
}

Releases::Releases() : flags_(kFlags), covers_(kCovers) {}

void Releases::clear() {
  if (!any_) return;
  any_ = false;
  flags_.assign(kFlags, {});
  covers_.assign(kCovers, {});
}

namespace {

// What `v` did before this time, a fence of `warp` has handed out.
Time fenced_of(const BlockOrder& block, uint32_t warp, size_t v,
               Fence WarpOrder::*scope) {
  const Fence& mine = block.warps[warp].*scope;
  const Time known = std::max(mine.met, block.known_across(warp, v));
  if (v == warp) return std::max(mine.at, known);
  // Others' own fences count once a barrier has ordered them before us.
  const Time theirs = (block.warps[v].*scope).at;
  return theirs <= block.met ? std::max(theirs, known) : known;
}

}  // namespace

void Releases::release(BlockOrder& block, uint32_t warp, uint64_t address,
                       Time now) {
  any_ = true;
  Flag& f = flag(address);
  if (f.time && f.address != address) f.replaced = true;
  f.address = address;
  f.time = now;
  for (size_t v = 0; v < block.warps.size(); ++v)
    block.released[v] = std::max(
        block.released[v], fenced_of(block, warp, v, &WarpOrder::block_fence));
  if (block.warps[warp].device_fence.at == 0) return;
  Cover& c = covers_[block.number % kCovers];
  if (c.used && c.block != block.number) c.replaced = true;
  if (c.block != block.number) c.until.fill(0);
  c.used = true;
  c.block = block.number;
  for (size_t v = 0; v < block.warps.size(); ++v)
    c.until[v] = std::max(c.until[v],
                          fenced_of(block, warp, v, &WarpOrder::device_fence));
}

Time Releases::acquired_at(uint64_t address, Time now) const {
  const Flag& f = flags_[address / 4 % kFlags];
  return f.replaced ? now : f.address == address ? f.time : 0;
}

bool Releases::covers(uint32_t block, uint32_t warp, Time time) const {
  const Cover& c = covers_[block % kCovers];
  if (c.replaced && c.block != block) return true;
  return c.used && c.block == block && time < c.until[warp];
}

}  // namespace simt
