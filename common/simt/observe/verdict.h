// What to say of two accesses that nothing orders: do they do harm?
#pragma once
#include <cstdint>

#include "common/simt/core/program.h"
#include "common/simt/observe/mine.h"

namespace simt {

// From nothing to worst.
enum class Verdict : uint8_t { kFine, kSameValue, kSameEnd, kGuess, kRace };

struct Conflict {
  Verdict verdict = Verdict::kFine;
  int lane = 0, other_lane = 0;
  uint64_t address = 0;
};

// Of a lane of mine and the `other` lane of the event.
Verdict judge(const Program& program, const Mine& mine, const Event& event,
              Time time, int lane, int other);

// Does a lane store what another lane stores by the same instruction, or (-1)
// what is there already?
bool stores_same(const Mine& mine, int lane, int other);

// Of a load: the lanes that do not drop what it brings.
uint32_t keepers(const Program& program, Warp& warp, const Instruction& load);

}  // namespace simt
