// Loads, stores and atomics: which handler runs them, and how lanes' addresses
// become places in the host's memory.
#pragma once
#include "common/simt/core/access.h"
#include "common/simt/core/program.h"
#include "common/simt/isa/arithmetic.h"

namespace simt {

// The state space that a statement names.
Space space_of(const Statement& s);

// Decodes ld, st, atom, red, cvta, isspacep, prefetch, fences. Their addresses
// are already there. Returns false for any other opcode.
bool decode_memory(const Statement& s, OperandReader& operands, Draft& ins);

// Finds the places for lanes of `mask`, or for those of them (a.mask) that mean
// the same space as the first; tells the observers.
void resolve(Warp& warp, const Instruction& ins, uint32_t mask, Access& a);

}  // namespace simt
