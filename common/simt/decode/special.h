// Special registers: %tid.x, %clock64 and their kin.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "common/simt/core/lanes.h"
#include "common/simt/core/program.h"

namespace simt {

// Those whose value is known when a block begins.
const std::map<std::string, Special>& special_names();

// Of the shared memory that the system has for itself: how far behind its
// beginning they point.
const std::map<std::string, uint32_t>& reserved_names();

// Those that are read anew each time.
struct Clock {
  uint8_t bytes;
  Handler read;
};
const std::map<std::string, Clock>& clock_names();

// The result of an instruction that is the same in all lanes.
template <class T>
void fill_lanes(Warp& warp, const Instruction& ins, uint32_t mask, T value) {
  T* to = lanes<T>(warp, ins.result(0));
  for (int l = 0; l < kLanes; ++l)
    if (mask >> l & 1) to[l] = value;
}

}  // namespace simt
