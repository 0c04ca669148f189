// Barriers in shared memory: mbarrier.
#pragma once
#include <string>

#include "common/simt/core/block.h"
#include "common/simt/isa/arithmetic/arithmetic.h"

namespace simt {

// Decodes mbarrier and cp.async.mbarrier; returns false for any other opcode.
// The addresses are already there.
bool decode_mbarrier(const Statement& s, OperandReader& operands, Draft& ins);

// What the phase lacks that a lane has waited for in vain: "1 arrival and 512
// bytes". `registers`: of the call that it waits in.
std::string lacking(const Block& block, const uint8_t* registers,
                    const Instruction& wait, int lane);

}  // namespace simt
