// What is said of a warp: who did what, and who waits where.
#include <algorithm>

#include "common/simt/grid.h"
#include "common/simt/warp.h"

namespace simt {
std::string hex_mask(uint32_t mask) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", mask);
  return text;
}

std::string Warp::thread_name(int lane) const {
  const unsigned* size = block->grid->shape.block;
  const uint32_t t = index * kLanes + lane;
  return "(" + std::to_string(t % size[0]) + "," +
         std::to_string(t / size[0] % size[1]) + "," +
         std::to_string(t / size[0] / size[1]) + ")";
}

void Warp::fault(const Instruction& ins, int lane, const std::string& kind,
                 const std::string& what, int code) const {
  throw PlacedFault(code, finding(ins, lane, kind, what));
}

Finding Warp::finding(const Instruction& ins, int lane, const std::string& kind,
                      const std::string& what) const {
  const Grid& grid = *block->grid;
  Finding f;
  f.kind = kind;
  f.message = what;
  f.kernel = grid.kernel.name;
  if (ins.where.line) {
    f.file = grid.program.module->text.files.at(ins.where.file);
    f.line = ins.where.line;
  }
  const uint32_t t = index * kLanes + lane;
  const unsigned* size = grid.shape.block;
  f.block = {block->id[0], block->id[1], block->id[2]};
  f.thread = {t % size[0], t / size[0] % size[1], t / size[0] / size[1]};
  return f;
}

Finding Warp::finding(const Path& path, const std::string& kind,
                      const std::string& what) const {
  return finding(path.frame->function->code[path.pc], first_lane(path.mask),
                 kind, what);
}

void Warp::missing_source(const Instruction& ins, int lane, int source) const {
  if (!(all_ >> source & 1)) return;
  fault(ins, lane, "missing lane",
        "lane " + std::to_string(lane) + " shuffles with lane " +
            std::to_string(source) +
            (live_ >> source & 1 ? ", which the mask leaves out"
                                 : ", which has exited"),
        719);
}

// "threads (0,0,0) to (15,0,0) of warp 0 wait at the barrier at a.cu:12"
std::string Warp::describe_waiting() const {
  std::string text;
  for (const Path& p : waiting_) {
    const Instruction& ins = p.frame->function->code[p.pc];
    const int first = first_lane(p.mask), last = 31 - std::countl_zero(p.mask);
    const std::string at = block->grid->program.location(ins.where);
    text += "\n  warp " + std::to_string(index) + ": " +
            std::to_string(lane_count(p.mask)) + " thread(s), " +
            thread_name(first) +
            (first == last ? "" : " to " + thread_name(last)) + ", wait ";
    if (p.state == Path::kAtBarrier)
      text += "at the barrier";
    else if (p.state == Path::kAtCollective)
      text += "in a collective for the lanes " + hex_mask(p.members);
    else
      text += "for memory to change";
    if (!at.empty()) text += " at " + at;
    if (p.state != Path::kAtCollective) continue;
    const uint32_t missing = p.members & live_ & ~p.mask;
    if (missing) text += ", lanes " + hex_mask(missing) + " do not come";
  }
  for (const auto& join : joins_) {
    if (join->arrived == 0 || join->arrived == join->expected) continue;
    text += "\n  warp " + std::to_string(index) + ": lanes " +
            hex_mask(join->arrived) + " wait behind a branch";
    if (join->pc != Join::kReturn) {
      const auto& ins = join->frame->function->code[join->pc];
      const std::string at = block->grid->program.location(ins.where);
      if (!at.empty()) text += " at " + at;
    }
  }
  return text;
}

}  // namespace simt
