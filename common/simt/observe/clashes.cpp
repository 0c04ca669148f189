// Joins stores that clash in one word of shared memory.
#include "common/simt/observe/clashes.h"

namespace simt {

// The worst of them stands for all.
void Clashes::enter(const Clash& clash) {
  const uint64_t word = clash.conflict.address / Shadow::kWordBytes;
  const auto known = by_word_.find(word);
  if (known == by_word_.end()) {
    by_word_.emplace(word, clash);
    return;
  }
  const Clash& old = known->second;
  const bool in_warp = clash.in_warp && old.in_warp && old.warp == clash.warp;
  const uint8_t bytes = clash.bytes | old.bytes;
  if (old.conflict.verdict < clash.conflict.verdict) {
    by_word_.erase(known);
    by_word_.emplace(word, clash);
  }
  Clash& kept = by_word_.at(word);
  kept.in_warp = in_warp;
  kept.end = clash.end;
  kept.bytes = bytes;
}

bool Clashes::is_behind(const Warp& warp, const BlockOrder& order,
                        const Clash& clash) {
  return clash.end <= order.met ||
         (clash.in_warp && clash.warp == &warp &&
          clash.end <= order.warps[warp.index].synced);
}

}  // namespace simt
