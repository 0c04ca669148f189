// From a kernel's text to the code that warps run.
#pragma once
#include <memory>

#include "common/simt/core/program.h"

namespace simt {

// Decodes `kernel` and everything it can reach. Throws Error for PTX that the
// executor does not know, naming the instruction and its source line.
std::unique_ptr<Program> decode(Module& module, const FunctionText& kernel);

// Whether one of its operands is %clock, %globaltimer or their like.
bool reads_clock(const Instruction& ins);

// The program of a kernel, decoded at the first call.
const Program& program_of(Kernel& kernel);

}  // namespace simt
