// Local memory that a thread asks for while it runs.
#pragma once
#include "common/simt/isa/arithmetic/arithmetic.h"

namespace simt {

// Decodes alloca, stacksave and stackrestore; returns false for any other
// opcode.
bool decode_stack(const Statement& s, OperandReader& operands, Draft& ins);

}  // namespace simt
