// From PTX text to its statements.
#pragma once
#include <string_view>

#include "common/simt/core/ptx.h"

namespace simt {

// Throws Error for text that is not the PTX nvcc writes, or asks for what the
// executor does not have.
ModuleText parse_ptx(std::string_view text);

// The same without the functions' bodies: of megabytes a program needs little.
// The text must stay until they have been read.
ModuleText parse_outline(std::string_view text);
// Adds another file's text to it: what both know is one thing.
void add_unit(ModuleText& module, std::string_view text, Unit unit);
void parse_body(ModuleText& module, FunctionText& function);

}  // namespace simt
