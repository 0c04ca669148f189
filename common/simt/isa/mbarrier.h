// Barriers in shared memory: mbarrier.
#pragma once
#include "common/simt/isa/arithmetic.h"

namespace simt {

// Decodes mbarrier and cp.async.mbarrier; returns false for any other opcode.
// The addresses are already there.
bool decode_mbarrier(const Statement& s, OperandReader& operands, Draft& ins);

}  // namespace simt
