// Loads, stores and atomics: which handler runs them, and how lanes' addresses
// become places in the host's memory.
#pragma once
#include "common/simt/core/program.h"
#include "common/simt/isa/arithmetic.h"

namespace simt {

// Decodes ld, st, atom, red, cvta, isspacep, cp.async, prefetch, fences.
// `ins.a` and `ins.offset` (the address) are already set. Returns false for
// any other opcode.
bool decode_memory(const Statement& s, OperandReader& operands,
                   Instruction& ins);

}  // namespace simt
