// Whether the blocks of a launch may run on all cores, although the program has
// not asked for it: only where that can be told from nothing.
#pragma once
#include "common/simt/core/grid.h"

namespace simt {

// On how many host threads; 1: it may not, or it is not worth it.
//
// A kernel qualifies if all that a block can learn of others it would learn by
// reading what they have written: no atomics or volatile accesses outside of
// shared memory, no fences, clocks, system calls, textures or asynchronous
// copies. Whether a block did read what others wrote is found out by comparing;
// then the launch is taken back (memory/undo.h).
int threads_for(Kernel& kernel, const LaunchShape& shape);

}  // namespace simt
