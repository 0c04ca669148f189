// Places in memory, as findings name them.
#pragma once
#include <cstdint>
#include <string>

#include "common/simt/core/code.h"
#include "common/simt/core/finding.h"
#include "common/simt/core/grid.h"

namespace simt {

struct Extent {
  uint64_t begin, end;
};
// Of a shared array, in the shared memory of the launch's blocks.
Extent extent(const Grid& grid, const Program::SharedArray& array);

// " at relu.cu:23", or "" where the line is not known.
std::string at_place(const Grid& grid, const Instruction& ins);

// The other instruction that a finding is about, and who carried it out.
void place_other(const Grid& grid, Finding& finding, const Instruction& ins,
                 uint32_t block, uint32_t thread);

// "shared address 0x40 (byte 64 of tile)"
std::string text_of_place(const Grid& grid, Space space, uint64_t address);

}  // namespace simt
