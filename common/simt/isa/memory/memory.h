// Loads, stores, atomics, address spaces, fences: which handler runs them.
#pragma once
#include "common/simt/core/program.h"
#include "common/simt/isa/arithmetic/arithmetic.h"

namespace simt {

// The state space that a statement names, and for whom it is as strong.
Space space_of(const Statement& s);
void decode_scope(const Statement& s, Draft& ins);

// Decodes ld, st, atom, red, cvta, isspacep, prefetch, discard, fences. Their
// addresses are already there. Returns false for any other opcode.
bool decode_memory(const Statement& s, OperandReader& operands, Draft& ins);
// The part of it that is about address spaces; and about fences and hints.
bool decode_space(const Statement& s, OperandReader& operands, Draft& ins);
bool decode_fence(const Statement& s, OperandReader& operands, Draft& ins);

}  // namespace simt
