// Copies that go on beside the threads that asked for them.
#pragma once
#include "common/simt/isa/arithmetic.h"

namespace simt {

// Decodes cp.async and its waits; returns false for any other opcode. The
// addresses are already there.
bool decode_async(const Statement& s, OperandReader& operands, Draft& ins);

}  // namespace simt
