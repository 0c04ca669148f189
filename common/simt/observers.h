// What happens in a block, for whoever wants to know. Execution calls these at
// every event; who does not watch costs one comparison.
#pragma once
#include "common/simt/checker.h"
#include "common/simt/counters.h"
#include "common/simt/trace.h"

namespace simt {

struct Observers {
  Counters* counters = nullptr;  // null: SIMT_COUNTERS=off
  Checker* checker = nullptr;    // null: SIMT_CHECKS=off
  Trace* trace = nullptr;        // null: no SIMT_TRACE

  // A block begins.
  void start(Block& block) {
    if (checker) checker->start(block);
  }
  void issue(const Instruction& ins, uint32_t active) {
    if (counters) counters->issue(ins, active);
  }
  // A conditional branch; `taken` of the `active` lanes jump.
  void branch(const Instruction& ins, uint32_t active, uint32_t taken) {
    if (counters) counters->branch(ins, active, taken);
  }
  // A load, store or atomic in global or shared memory, about to be done.
  void access(Warp& warp, const Instruction& ins, const Access& access) {
    if (counters) counters->access(ins, access);
    if (checker) checker->access(warp, ins, access);
    if (trace) trace->access(warp, ins, access);
  }
  void fence(Warp& warp, const Instruction& ins) {
    if (checker) checker->fence(warp, ins);
  }
  // Lanes of a warp meet in a collective that names `members`; lanes of `mask`
  // came by this instruction.
  void collective(Warp& warp, const Instruction& ins, uint32_t mask,
                  uint32_t members) {
    if (checker) checker->collective(warp, ins, mask, members);
  }
  // Lanes of a warp have come to a barrier of the block.
  void arrive(Warp& warp, const Instruction& ins, uint32_t mask) {
    if (counters) counters->barrier(ins);
    if (checker) checker->arrive(warp, ins, mask);
  }
  // The barrier opens; `counted`: for a number of threads that was named.
  void release(Block& block, uint32_t barrier, bool counted) {
    if (checker) checker->release(block, barrier, counted);
    if (trace) trace->release(block);
  }
};

}  // namespace simt
