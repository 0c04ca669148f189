// Copies that go on beside the threads that asked for them: cp.async.
//
// Nobody may look at what they write before somebody has waited for them. So
// that this shows, each is made as late as it can be: when it is waited for.
#pragma once
#include <cstdint>
#include <list>
#include <optional>

#include "common/simt/core/access.h"

namespace simt {

// One instruction of a warp.
struct AsyncCopy {
  AsyncCopy(Warp& warp, const Instruction& ins, const Access& to)
      : warp(&warp), ins(&ins), to(to) {}

  Warp* const warp;
  const Instruction* const ins;
  Access to;                    // of lanes whose copy has not been made
  std::optional<Access> from;   // fewer bytes than `to`, or none: zeros follow
  uint32_t group[kLanes] = {};  // so many had its lane closed before
  bool bypasses = false;        // L1 does not keep what it reads
};

struct AsyncCopies {
  std::list<AsyncCopy> pending;  // in the order in which they began

  bool empty() const { return pending.empty(); }
  void clear() { pending.clear(); }
};

}  // namespace simt
