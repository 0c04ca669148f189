// From PTX text to its statements.
#pragma once
#include <string>

#include "common/simt/core/ptx.h"

namespace simt {

// Throws Error for text that is not the PTX nvcc writes, or asks for what the
// executor does not have.
ModuleText parse_ptx(const std::string& text);

}  // namespace simt
