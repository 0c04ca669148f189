// Findings as text, and those of a warp.
#include "common/simt/core/finding.h"

#include <cstdio>

#include "common/simt/core/block.h"
#include "common/simt/core/grid.h"
#include "common/simt/core/names.h"
#include "common/simt/core/warp.h"

namespace simt {

std::string hex(uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof text, "0x%llx",
                static_cast<unsigned long long>(value));
  return text;
}

std::string triple(const std::array<uint32_t, 3>& v) {
  return "(" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," +
         std::to_string(v[2]) + ")";
}

std::string Finding::text() const {
  std::string out = (note ? "note: " : "") + kind + ": " + message + "\n  in " +
                    short_name(kernel);
  if (!file.empty()) out += " at " + file + ":" + std::to_string(line);
  if (names_thread)
    out += ", block " + triple(block) + ", thread " + triple(thread);
  if (count > 1) out += ", " + std::to_string(count) + " times";
  return out;
}

// The compiler says nothing of a destructor that it has made itself: then the
// line that calls it.
static SourceLine line_of(const Warp& warp, const Instruction& ins) {
  if (ins.where.line || !warp.variables) return ins.where;
  return warp.variables->called_at;
}

Finding finding_at(const Warp& warp, const Instruction& ins, int lane,
                   const std::string& kind, const std::string& what) {
  const Grid& grid = *warp.block->grid;
  Finding f;
  f.kind = kind;
  f.message = what;
  f.kernel = grid.kernel.name;
  const SourceLine where = line_of(warp, ins);
  if (where.line) {
    f.file = grid.program.module->text.files.at(where.file);
    f.line = where.line;
  }
  const uint32_t t = warp.index * kLanes + lane;
  f.block = warp.block->id;
  f.thread = coordinates(t, grid.shape.block);
  return f;
}

void fault(const Warp& warp, const Instruction& ins, int lane,
           const std::string& kind, const std::string& what, int code) {
  throw PlacedFault(code, finding_at(warp, ins, lane, kind, what));
}

}  // namespace simt
