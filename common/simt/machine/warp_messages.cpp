// What is said of a warp: who did what, and who waits where.
#include <algorithm>

#include "common/simt/isa/async/mbarrier.h"
#include "common/simt/machine/block_run.h"

namespace simt {
std::string WarpRun::thread_name(int lane) const {
  const unsigned* size = block->grid->shape.block;
  const uint32_t t = index * kLanes + lane;
  return "(" + std::to_string(t % size[0]) + "," +
         std::to_string(t / size[0] % size[1]) + "," +
         std::to_string(t / size[0] / size[1]) + ")";
}

Finding WarpRun::finding(const Path& path, const std::string& kind,
                         const std::string& what) const {
  return finding_at(*this, path.frame->function->code[path.pc],
                    first_lane(path.mask), kind, what);
}

namespace {

// Has the path just looked in vain whether an mbarrier's phase is over?
bool awaits(const Path& path) {
  if (!path.polls || path.pc == 0) return false;
  const Statement* s = path.frame->function->code[path.pc - 1].statement;
  return s && s->name() == "mbarrier";
}

}  // namespace

bool WarpRun::only_awaits() const {
  return std::all_of(waiting_.begin(), waiting_.end(), [](const Path& p) {
    return p.state != Path::kGaveWay || awaits(p);
  });
}

bool WarpRun::loops_idly() const {
  return std::ranges::any_of(waiting_, [](const Path& p) {
    const Instruction& ins = p.frame->function->code[p.pc];
    return p.state == Path::kGaveWay && ins.kind == Kind::kBranch &&
           ins.guard == kNowhere && ins.target == p.pc;
  });
}

bool WarpRun::waits_for_group() const {
  return std::ranges::any_of(waiting_, [](const Path& p) {
    return p.frame->function->code[p.pc].where.of_groups;
  });
}

// "threads (0,0,0) to (15,0,0) of warp 0 wait at the barrier at a.cu:12"
std::string WarpRun::describe_waiting() const {
  std::string text;
  for (const Path& p : waiting_) {
    const Instruction& ins = p.frame->function->code[p.pc];
    const int first = first_lane(p.mask), last = 31 - std::countl_zero(p.mask);
    const std::string at = block->grid->program.location(ins.where);
    text += "\n  warp " + std::to_string(index) + ": " +
            std::to_string(lane_count(p.mask)) + " thread(s), " +
            thread_name(first) +
            (first == last ? "" : " to " + thread_name(last)) + ", ";
    if (p.state == Path::kAtBarrier && ins.kind == Kind::kWarpgroup)
      text += "wait for their warpgroup";
    else if (p.state == Path::kAtBarrier)
      text += "wait at the barrier";
    else if (p.state == Path::kAtCollective)
      text += "wait in a collective for the lanes " + hex_mask(p.members);
    else if (awaits(p) || (p.polls && !(p.mask & ~awaiting_)))
      text += "wait at the mbarrier";
    else if (p.polls)
      text += "wait for memory to change";
    else
      text += "are in a loop";
    if (!at.empty()) text += " at " + at;
    if (p.state == Path::kGaveWay && awaits(p))
      text += ", whose phase lacks " +
              lacking(*block, p.frame->registers,
                      p.frame->function->code[p.pc - 1], first);
    if (p.state != Path::kAtCollective) continue;
    const uint32_t missing = p.members & live & ~p.mask;
    if (missing) text += ", lanes " + hex_mask(missing) + " do not come";
  }
  for (const auto& join : joins_) {
    if (join->arrived == 0 || join->arrived == join->expected) continue;
    text += "\n  warp " + std::to_string(index) + ": lanes " +
            hex_mask(join->arrived) + " wait for the others";
    const auto& ins = join->pc == Join::kReturn
                          ? *join->frame->call
                          : join->frame->function->code[join->pc];
    text += join->pc == Join::kReturn ? " at the end of a call" : "";
    const std::string at = block->grid->program.location(ins.where);
    if (!at.empty()) text += " at " + at;
  }
  return text;
}

}  // namespace simt
