// An access that is being compared with those before it.
#pragma once
#include <cstdint>

#include "common/simt/core/access.h"
#include "common/simt/core/async.h"
#include "common/simt/observe/order.h"
#include "common/simt/observe/shadow.h"

namespace simt {

// By one run of its lanes.
struct Mine {
  Warp& warp;
  const Instruction& ins;
  const Access& access;
  BlockOrder& block;
  WarpOrder& order;
  Shadow& shadow;
  Time horizon;      // what is older is ordered before all of us
  Time first_event;  // of this instruction
  bool stores;
  bool fresh = false;               // all lanes store where nobody has written
  const AsyncCopy* copy = nullptr;  // it is this one's
  bool enters = true;               // what comes is to be compared with it
};

inline Strength strength_of(const Event& event) {
  return static_cast<Strength>(event.strength);
}

// A load by a cache that does not see what its own grid stores, whoever did so,
// and however long ago.
inline bool is_stale(const Mine& mine, const Event& event) {
  return mine.ins.read_only && event.stores;
}

// A volatile load of what another block has stored first of all: who comes too
// early finds not an older value there, but none.
inline bool needs_first(const Mine& mine, const Event& event) {
  return event.fresh && mine.access.use == Use::kLoad &&
         event.block != mine.block.number;
}

// Two stores of what was made of the old value: if both loaded it first, what
// one has made of it is lost.
inline bool loses(const Instruction& mine, const Instruction& theirs) {
  return mine.updates && theirs.updates;
}

// Of what the block did before a copy ends all is known: it was told when the
// copy began, or when somebody touched the bytes since.
inline bool told(const Mine& mine, const Event& event, Time time) {
  return mine.copy && mine.enters && event.block == mine.block.number &&
         time < mine.first_event;
}

// A fence that other blocks know of. One for the cluster counts for all.
inline bool is_for_others(const Instruction& ins, const BlockOrder& block) {
  return !ins.for_block && !(ins.for_cluster && block.cluster.empty());
}

}  // namespace simt
