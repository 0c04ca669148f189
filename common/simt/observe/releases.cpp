// Keeps what flags teach.
#include "common/simt/observe/releases.h"

#include <algorithm>
#include <cstring>

namespace simt {

Releases::Releases() : flags_(kFlags), covers_(kCovers) {}

void Releases::clear() {
  if (!any_) return;
  any_ = false;
  flags_.assign(kFlags, {});
  shared_flags_.clear();
  covers_.assign(kCovers, {});
}

void Releases::forget_shared(uint32_t block) {
  shared_flags_.erase(shared_flags_.lower_bound(in_shared(block, 0)),
                      shared_flags_.lower_bound(in_shared(block + 1, 0)));
}

const Releases::Flag* Releases::find(uint64_t flag) const {
  if (!(flag & kShared)) return &flags_[flag / 4 % kFlags];
  const auto known = shared_flags_.find(flag);
  return known == shared_flags_.end() ? nullptr : &known->second;
}

void Releases::release(BlockOrder& block, uint32_t warp, int lane,
                       uint64_t flag, bool adds, Time now) {
  any_ = true;
  Flag& f = slot(flag);
  if (f.lesson && f.address != flag) f.replaced = true;
  if (f.address != flag) f.watched_bytes = 0;
  if (!adds || f.address != flag) f.lesson = {};
  f.address = flag;
  f.lesson.add({0, now, block.number});
  // Who has learned hands it on.
  f.lesson.add(block.warps[warp].learned[lane]);
  block.released.add(block, warp, lane, &WarpOrder::block_fence, now);
  if (!block.fenced_for_device) return;
  HandedOut& handed = cover_of(block.number).handed;
  handed.add(block, warp, lane, &WarpOrder::device_fence, now);
  const WarpOrder& order = block.warps[warp];
  const Time fenced = order.device_fence.at[lane];
  if (!fenced) return;
  handed.add_learned(block.released, order.learned[lane].of(block.number), now);
  hand_on(block, warp, fenced, f.lesson);
}

Releases::Cover& Releases::cover_of(uint32_t block) {
  Cover& c = covers_[block % kCovers];
  if (c.used && c.block != block) {
    c.replaced = true;
    c.handed.clear();
  }
  c.used = true;
  c.block = block;
  return c;
}

void Releases::hand_on(const BlockOrder& block, uint32_t warp, Time fenced,
                       Lesson& lesson) {
  const size_t warps = block.warps.size();
  for (const BlockOrder* other : block.cluster) {
    if (other == &block) continue;
    const std::span<const Time> known =
        std::span(block.in_cluster[warp]).subspan(other->rank * warps, warps);
    const Time last = std::min(std::ranges::max(known), fenced);
    if (!last) continue;
    cover_of(other->number).handed.add_warps(known, fenced);
    lesson.add({0, last, other->number});
  }
}

Lesson Releases::at(uint64_t flag, Time now) const {
  const Flag* const f = find(flag);
  // Too much is forgotten: it counts as having taught all, also what lanes of
  // this very instruction have released, at the time behind it.
  if (f && f->replaced) return {now + 1, 0, 0};
  return f && f->address == flag ? f->lesson : Lesson{};
}

void Releases::watch(uint64_t flag, int bytes, const uint8_t* there, Time now) {
  Flag& f = slot(flag);
  if (f.address != flag && (f.lesson || f.watched_bytes)) return;
  if (f.address == flag && f.watched_bytes) return;
  any_ = true;
  // What came before is not known, if another flag has had this place.
  f.forgotten = f.address ? now : 0;
  f.address = flag;
  f.watched_bytes = static_cast<uint8_t>(bytes);
  f.changes.assign(1, {now, f.lesson});
  see(flag, there);
}

void Releases::see(uint64_t flag, const uint8_t* there) {
  Flag* const known = find(flag);
  if (!known) return;
  Flag& f = *known;
  if (!f.watched_bytes || f.address != flag || f.changes.empty()) return;
  Change& last = f.changes.back();
  if (!last.is_seen) std::memcpy(&last.value, there, f.watched_bytes);
  last.is_seen = true;
}

void Releases::note_store(uint64_t flag, Time now) {
  Flag* const known = find(flag);
  if (!known) return;
  Flag& f = *known;
  if (!f.watched_bytes || f.address != flag) return;
  if (f.changes.size() == kChanges) {
    f.forgotten = f.changes[kChanges / 2 - 1].time;
    f.changes.erase(f.changes.begin(), f.changes.begin() + kChanges / 2);
  }
  f.changes.push_back({now, f.lesson});
}

bool Releases::covers(uint32_t block, uint32_t warp, int lane, Time time,
                      Time until) const {
  const Cover& c = covers_[block % kCovers];
  if (c.replaced && c.block != block) return true;
  return c.used && c.block == block && c.handed.covers(warp, lane, time, until);
}

}  // namespace simt
