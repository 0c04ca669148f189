// Whether the blocks of a launch may run on all cores, although the program has
// not asked for it, and whether the launch may be known again when it is
// repeated: only where that can be told from nothing.
#pragma once
#include "common/simt/core/grid.h"

namespace simt {

enum class Way {
  kAlone,     // it may not, or it is not worth it
  kRepeated,  // on one host thread, and it will be known again
  kSpread,    // on all cores, and it will be known again
};

// A launch is known again if all that it does follows from what it reads in
// memory: no clocks, system calls, surfaces or asynchronous copies (repeats.h).
//
// It is spread if, moreover, all that a block can learn of others it would
// learn by reading what they have written: no volatile accesses outside of
// shared memory, no fences, and no atomics there but those that commute, such
// as sums of whole numbers whose old value nobody asks for. Whether a block did
// read what others wrote is found out by comparing; then the launch is taken
// back (memory/undo.h).
Way way_of(Kernel& kernel, const LaunchShape& shape);

// How many of this machine's cores its blocks may be spread over.
int cores_for(const LaunchShape& shape);

}  // namespace simt
