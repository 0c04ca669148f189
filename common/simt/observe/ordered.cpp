// Tells whether one access comes before another: by barriers, collectives,
// clusters, mbarriers and flags; or whether the two may meet without that.
#include <algorithm>

#include "common/simt/observe/races.h"

namespace simt {
namespace {

// Of lanes of one block.
bool is_ordered_in_block(const Mine& mine, const Event& event, Time time,
                         int lane, int other) {
  if (time < mine.block.met) return true;
  if (event.warp == mine.warp.index &&
      (lane == other || time < mine.order.known_of(lane, other)))
    return true;
  return time < mine.block.known_across(mine.warp.index, event.warp) ||
         time < mine.order.heard_of(lane, event.warp * kLanes + other);
}

}  // namespace

bool Races::ordered(const Mine& mine, const Event& event, Time time, int lane,
                    int other) const {
  const bool same_block = event.block == mine.block.number;
  if (same_block && is_ordered_in_block(mine, event, time, lane, other))
    return true;
  if (!mine.block.cluster.empty() &&
      time <
          mine.block.known_in_cluster(mine.warp.index, event.block, event.warp))
    return true;
  if (time < mine.block.inits_of(event.block) &&
      instruction(event).statement->sets_up_mbarrier())
    return true;
  if (!mine.order.taught) return false;
  // A store that depends on a flag cannot come before it; a load can, without a
  // fence in between. No GPU is known to move a volatile one ahead of a flag.
  Time learned = mine.order.learned[lane].of(event.block);
  if (mine.stores ||
      (mine.ins.strength != Strength::kWeak && needs_first(mine, event)))
    learned = std::max(learned, mine.order.read[lane].of(event.block));
  // Who has learned from a flag since knows what it had been set to before.
  if (time < learned && loses(mine.ins, instruction(event))) return true;
  return handed_over(mine, event, time, other, learned);
}

// Did who did it, or somebody who knew of it, hand that out until some time?
bool Races::handed_over(const Mine& mine, const Event& event, Time time,
                        int other, Time until) const {
  if (time >= until) return false;
  return event.block == mine.block.number
             ? mine.block.released.covers(event.warp, other, time, until)
             : tables_->releases.covers(event.block, event.warp, other, time,
                                        until);
}

// Is an access of one of two blocks as strong for the other?
bool Races::reaches(const Instruction& ins, const Mine& mine,
                    const Event& event) const {
  return !ins.for_block &&
         !(ins.for_cluster &&
           !grid_.same_cluster(mine.block.number, event.block));
}

// Two accesses that are no race although nothing orders them?
bool Races::may_meet(const Mine& mine, const Event& event) const {
  const auto strength = strength_of(event);
  const Strength weak = std::min(mine.ins.strength, strength);
  const Strength strong = std::max(mine.ins.strength, strength);
  if (weak == Strength::kWeak) return false;
  if (needs_first(mine, event) || loses(mine.ins, instruction(event)))
    return false;
  const bool same_block = event.block == mine.block.number;
  if (!same_block && !(reaches(mine.ins, mine, event) &&
                       reaches(instruction(event), mine, event)))
    return false;
  if (strong == Strength::kStrong) return true;
  // In shared memory, volatile data that nobody waits for is the old
  // warp-synchronous style.
  return mine.access.space == Space::kGlobal;
}

// A volatile store after this warp has waited for the other's store: turns that
// are handed round. A load that waits for nothing is not enough where the store
// is made of it. Of lanes that read the same, not all are remembered. A
// plain access to the word itself comes behind what its own lane has waited for
// there.
bool Races::waited(const Mine& mine, const Word& word, const Event& event,
                   Time time, int lane) const {
  if (!event.stores) return false;
  if (mine.ins.strength == Strength::kWeak) {
    if (strength_of(event) == Strength::kWeak || !mine.order.looks)
      return false;
    const Look& look = (*mine.order.looks)[lane];
    return look.met == flag_of(mine, lane) && look.met_at > time;
  }
  if (mine.order.has_met(flag_of(mine, lane), time)) return true;
  for (int k = Word::kLoad; k < Word::kSlots; ++k) {
    const Touch load = word.at(k);
    const Event* e = tables_->log.find(load.time);
    if (load.time > time && e && e->block == mine.block.number &&
        e->warp == mine.warp.index && strength_of(*e) == Strength::kStrong &&
        (!mine.ins.updates || instruction(*e).waits))
      return true;
  }
  return false;
}

// A plain store to a counter by who has learned from it that others have
// counted: its block's atomic came behind theirs, and is ordered before the
// store. So the last of all blocks sets it to zero. Whether the store depends
// on what the atomic answered is not looked at.
bool Races::counted(const Mine& mine, const Word& word, const Event& event,
                    Time time, int lane) const {
  const auto is_strong = [](const Event& e) {
    return strength_of(e) == Strength::kStrong && e.stores;
  };
  if (!mine.stores || !is_strong(event) ||
      time >= mine.order.lessons(1u << lane).of(event.block))
    return false;
  for (int k = Word::kStrongStore; k < Word::kLoad; ++k) {
    const Touch own = word.at(k);
    const Event* e = tables_->log.find(own.time);
    if (own.time > time && e && e->block == mine.block.number &&
        instruction(*e).statement->name() == "atom" &&
        ordered(mine, *e, own.time, lane, own.lane))
      return true;
  }
  return false;
}

}  // namespace simt
