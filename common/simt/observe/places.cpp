// Puts places in memory into words.
#include "common/simt/observe/places.h"

#include "common/simt/core/names.h"
#include "common/simt/memory/allocations.h"

namespace simt {

Extent extent(const Grid& grid, const Program::SharedArray& array) {
  if (array.dynamic)
    return {grid.shared_end() - grid.shape.dynamic_shared, grid.shared_end()};
  return {array.begin, uint64_t{array.begin} + array.bytes};
}

std::string at_place(const Grid& grid, const Instruction& ins) {
  const std::string at = grid.program.location(ins.where);
  return at.empty() ? "" : " at " + at;
}

void place_other(const Grid& grid, Finding& f, const Instruction& ins,
                 uint32_t block, uint32_t thread) {
  if (ins.where.line) {
    f.other_file = grid.program.module->text.files.at(ins.where.file);
    f.other_line = ins.where.line;
  }
  f.other_block = coordinates(block, grid.shape.grid);
  f.other_thread = coordinates(thread, grid.shape.block);
  f.has_other = true;
}

std::string text_of_place(const Grid& grid, Space space, uint64_t address) {
  if (space == Space::kGlobal)
    return "global address " + hex(address) + " (" +
           allocations().describe(address) + ")";
  if (space != Space::kShared) return "local address " + hex(address);
  std::string text = "shared address " + hex(address);
  for (const Program::SharedArray& array : grid.program.shared_arrays) {
    const Extent e = extent(grid, array);
    if (address >= e.begin && address < e.end)
      return text + " (byte " + std::to_string(address - e.begin) + " of " +
             variable_name(array.name) + ")";
  }
  return text;
}

}  // namespace simt
