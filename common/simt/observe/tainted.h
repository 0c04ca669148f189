// The way to what is undefined in a warp.
#pragma once
#include "common/simt/core/block.h"
#include "common/simt/observe/block_checks.h"
#include "common/simt/observe/undefined.h"

namespace simt {

inline WarpValues& values_of(const Warp& warp) {
  return warp.block->checks->values[warp.index];
}

inline UndefinedRegisters& registers_of(const Warp& warp) {
  return values_of(warp).calls[warp.registers];
}

// The checks of the block whose memory an access of a warp means.
inline BlockChecks& checks_of(const Warp& warp, const Access& a) {
  return *(a.owner ? a.owner : warp.block)->checks;
}

// Notes whether there is still something undefined in the warp.
inline void settle(Warp& warp) {
  WarpValues& values = values_of(warp);
  std::erase_if(values.calls, [](const auto& c) { return c.second.empty(); });
  warp.tainted = !values.calls.empty() || !values.in_flight.empty();
  if (values.calls.empty()) values.exchanged.lanes = values.unsure = 0;
}

}  // namespace simt
