// Chooses which accesses the shadow goes on remembering: it has room for few.
#include <algorithm>
#include <bit>
#include <tuple>

#include "common/simt/observe/races.h"

namespace simt {

Event Races::event_of(const Mine& mine, int first, int lanes) const {
  Event e;
  e.address = mine.access.address[first];
  e.log_bytes = std::countr_zero(mine.access.bytes);
  e.first_lane = first;
  e.more_lanes = lanes - 1;
  e.strength = static_cast<uint64_t>(mine.ins.strength);
  e.stores = mine.stores;
  e.block = mine.block.number;
  e.warp = mine.warp.index;
  e.fresh = mine.fresh;
  e.site = mine.ins.site;
  return e;
}

namespace {

// Do the bytes from `begin` to `end` hold all that an event touches of their
// line?
bool covers_part(const Event& event, uint64_t begin, uint64_t end) {
  const uint64_t line = begin / Shadow::kLineBytes * Shadow::kLineBytes;
  return std::max(line, event.begin()) >= begin &&
         std::min(line + Shadow::kLineBytes, event.end()) <= end;
}

// Of two runs of one warp that overlap.
bool has_same_lanes(const Event& one, const Event& two) {
  const uint64_t at = std::max(one.begin(), two.begin());
  return one.log_bytes == two.log_bytes && one.lane_at(at) == two.lane_at(at);
}

// What an access may meet. In global memory an atomic meets no more than a
// volatile access does.
Strength meets(const Mine& mine, Strength strength) {
  return strength == Strength::kVolatile && mine.access.space == Space::kGlobal
             ? Strength::kStrong
             : strength;
}

// Other blocks did it before this one began, and nothing has told it of them.
bool is_of_others(const Mine& mine, Time time) {
  return time < mine.block.began && !mine.order.taught &&
         mine.block.cluster.empty();
}

}  // namespace

// Whoever is ordered behind `run`, my part of a line, is so behind that of
// `event`, and may meet no more than that may: then it can be forgotten.
bool Races::replaces(const Mine& mine, const Event& run, const Event& event,
                     Time time, uint64_t begin, uint64_t end) const {
  if (!covers_part(event, begin, end) ||
      meets(mine, mine.ins.strength) > meets(mine, strength_of(event)))
    return false;
  // Nothing meets a plain store: if the two are not ordered, it has been said.
  if (mine.stores && mine.ins.strength == Strength::kWeak) return true;
  if (event.block != mine.block.number) return false;
  if (time < mine.block.met) return true;
  // Of lanes that have not met since, each knows of itself.
  return event.warp == mine.warp.index &&
         (time < mine.order.synced || has_same_lanes(run, event));
}

// Puts a run in place of one that it makes superfluous; or of one that may meet
// others, first one whose bytes are all its own, so that others' bytes keep
// theirs, then the newest: the oldest is the one least likely to be ordered.
void Races::enter_run(Mine& mine, std::span<Time> slots, Time time,
                      uint64_t begin, uint64_t end) {
  const Event& run = *tables_->log.find(time);
  for (Time& t : slots) {
    const Event* e = t < mine.horizon ? nullptr : tables_->log.find(t);
    if (!e || replaces(mine, run, *e, t, begin, end)) return void(t = time);
  }
  const auto rank = [&](Time t) {
    const Event& e = *tables_->log.find(t);
    return std::tuple(meets(mine, strength_of(e)), covers_part(e, begin, end),
                      t);
  };
  Time* loser = &slots[0];
  for (Time& t : slots)
    if (rank(t) > rank(*loser)) loser = &t;
  if (std::get<0>(rank(*loser)) >= meets(mine, mine.ins.strength))
    *loser = time;
}

// The same for a lane's access to a word.
void Races::enter_lane(Mine& mine, Word& word, const Touch& touch) {
  if (mine.stores && mine.ins.strength == Strength::kWeak) {
    if (touch.bytes != Touch::kWhole) keep_other_bytes(mine, word, touch);
    return word.enter(Word::kWeakStore, touch, false);
  }
  const bool strong = mine.ins.strength != Strength::kWeak;
  const Strength ours = meets(mine, mine.ins.strength);
  const int first = mine.stores ? Word::kStrongStore : Word::kLoad;
  int loser = first + 1;
  for (int k = first; k < first + 2; ++k) {
    const Touch old = word.at(k);
    if (old.time < mine.horizon || !tables_->log.remembers(old.time) ||
        (mine.stores && !word.is_strong(k)))
      return word.enter(k, touch, strong);
    if (!strong && is_of_others(mine, old.time)) {
      if (word.is_strong(k)) loser = k;
      continue;
    }
    const Event& e = *tables_->log.find(old.time);
    const Strength theirs = meets(mine, strength_of(e));
    if (theirs < ours) {
      if (k == loser) return;
      continue;
    }
    if (ordered(mine, e, old.time, touch.lane, old.lane))
      return word.enter(k, touch, strong);
    if (theirs > ours) loser = k;
  }
  word.enter(loser, touch, strong);
}

// A store to some bytes says nothing of the store before it to others.
void Races::keep_other_bytes(const Mine& mine, Word& word,
                             const Touch& touch) const {
  const Touch last = word.at(Word::kWeakStore);
  if (last.time < mine.horizon || !(last.bytes & ~touch.bytes)) return;
  for (int k = Word::kStrongStore; k < Word::kLoad; ++k) {
    const Touch old = word.at(k);
    const bool newer_is_known =
        !word.is_strong(k) && !(old.bytes & ~(last.bytes | touch.bytes));
    if (old.time < mine.horizon || newer_is_known)
      return word.enter(k, last, false);
  }
}

}  // namespace simt
