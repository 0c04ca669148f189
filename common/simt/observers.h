// What happens in a block, for whoever wants to know. Execution calls these at
// every event; who does not watch costs one comparison.
#pragma once
#include "common/simt/counters.h"

namespace simt {

struct Observers {
  Counters* counters = nullptr;  // null: SIMT_COUNTERS=off

  void issue(const Instruction& ins, uint32_t active) {
    if (counters) counters->issue(ins, active);
  }
  // A conditional branch; `taken` of the `active` lanes jump.
  void branch(const Instruction& ins, uint32_t active, uint32_t taken) {
    if (counters) counters->branch(ins, active, taken);
  }
  // A load, store or atomic in global or shared memory, about to be done.
  void access(Warp&, const Instruction& ins, const Access& access) {
    if (counters) counters->access(ins, access);
  }
  // Lanes of a warp have come to a barrier of the block.
  void arrive(Warp&, const Instruction& ins, uint32_t) {
    if (counters) counters->barrier(ins);
  }
};

}  // namespace simt
