// Where the lanes of a memory instruction mean to go: how their addresses
// become places in the host's memory.
#pragma once
#include <cstdint>

#include "common/simt/core/access.h"
#include "common/simt/core/block.h"

namespace simt {

// Finds the places for lanes of `mask`, or for those of them (a.mask) that mean
// the same space as the first. Ends the kernel where one must not be accessed.
// `alignment` is a power of two.
void find_places(Warp& warp, const Instruction& ins, uint32_t mask,
                 uint32_t alignment, Access& a);

// The same for one lane's place in global memory that no operand names.
void find_global(Warp& warp, const Instruction& ins, int lane, uint64_t address,
                 Access& a);

// The same for an access about to be done: whoever watches is told.
void resolve(Warp& warp, const Instruction& ins, uint32_t mask, Access& a);

// Of a block in its cluster, whose shared memory an address means.
inline uint64_t rank_of(uint64_t shared_address) {
  return (shared_address & ~kWindowMask) >> kRankShift;
}

}  // namespace simt
