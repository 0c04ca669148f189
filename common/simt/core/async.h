// Copies that go on beside the threads that asked for them: cp.async, and
// cp.async.bulk.
//
// Nobody may look at what they write before somebody has waited for them. So
// that this shows, each is made as late as it can be: when it is waited for.
#pragma once
#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include "common/simt/core/access.h"

namespace simt {

// One instruction of a warp.
struct AsyncCopy {
  // What it belongs to: groups of cp.async, groups of cp.async.bulk, a barrier.
  enum class Of : uint8_t { kGroup, kBulkGroup, kBarrier };
  // Makes one thing of what is there and what comes: cp.reduce.
  using Reduction = void (*)(uint8_t* to, const uint8_t* from, Update update);

  AsyncCopy(Warp& warp, const Instruction& ins, const Access& to)
      : warp(&warp), ins(&ins), to(to) {}

  Warp* const warp;
  const Instruction* const ins;
  Access to;                    // of lanes whose copy has not been made
  std::optional<Access> from;   // fewer bytes than `to`, or none: zeros follow
  uint64_t number = 0;          // so many had begun before, in the block
  uint32_t group[kLanes] = {};  // so many had its lane closed before
  bool bypasses = false;        // L1 does not keep what it reads
  Of of = Of::kGroup;
  std::optional<Access> barrier;              // which is told when it is made
  std::optional<std::vector<uint8_t>> taken;  // the source may change since
  Reduction reduction = nullptr;              // of elements

  bool is_bulk() const { return of != Of::kGroup; }
};

// Lanes that arrive at barriers in shared memory once their copies are made.
struct AsyncArrival {
  Warp* warp;
  const Instruction* ins;
  Access at;        // lanes that have not arrived
  uint64_t behind;  // so many copies had begun
};

struct AsyncCopies {
  std::list<AsyncCopy> pending;  // in the order in which they began
  std::list<AsyncArrival> arrivals;
  uint64_t begun = 0;

  bool empty() const { return pending.empty() && arrivals.empty(); }
  void clear() {
    pending.clear();
    arrivals.clear();
  }
};

}  // namespace simt
