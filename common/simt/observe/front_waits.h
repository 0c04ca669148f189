// Of a launch that may begin before the kernel in front of it is done: which
// threads of a block have waited for that kernel, or come behind one that has.
#pragma once
#include <cstdint>
#include <vector>

#include "common/simt/core/warp.h"
#include "common/simt/observe/order.h"

namespace simt {

class FrontWaits {
 public:
  void start(size_t warps);
  // Lanes have waited. It is an event that others may come behind.
  void wait(const Warp& warp, uint32_t mask, EventLog& log);
  // Those of `mask` for which the kernel in front may not be done yet.
  uint32_t early(const Warp& warp, const BlockOrder& block, uint32_t mask);
  // Lanes let the next kernel begin.
  void let_next_begin(const Warp& warp, const BlockOrder& block, uint32_t mask);
  // Some have waited, and none of the others has let the next kernel begin.
  bool waits_first() const { return !waits_.empty() && !lets_next_begin_; }

 private:
  struct Wait {
    uint32_t warp;
    int lane;
    Time time;
  };
  static bool comes_behind(const Warp& warp, const BlockOrder& block, int lane,
                           const Wait& wait);

  std::vector<Wait> waits_;
  std::vector<uint32_t> waited_;  // by warp: lanes that have or come behind
  bool lets_next_begin_ = false;  // said by a thread that had not waited
};

}  // namespace simt
