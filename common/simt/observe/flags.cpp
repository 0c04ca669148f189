// Follows flags: who hands out what by them, and what that teaches who reads
// them, or waits for them.
#include "common/simt/observe/flags.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "common/simt/core/lanes.h"

namespace simt {
namespace {

// Whether a value would have ended a wait: what lies between the load and the
// branch is tried with it. Afterwards all is as it was.
class WaitEnds {
 public:
  WaitEnds(Warp& warp, const Function& function, const Instruction& load,
           int lane)
      : warp_(warp),
        load_(load),
        wait_(function.waits.at(load.site)),
        branch_(function.code[wait_.branch]),
        lane_(lane) {
    for (const auto& [place, width] : wait_.written) {
      const uint8_t* from = at(place, width);
      kept_.insert(kept_.end(), from, from + bytes(width));
    }
  }
  ~WaitEnds() {
    const uint8_t* kept = kept_.data();
    for (const auto& [place, width] : wait_.written) {
      std::memcpy(at(place, width), kept, bytes(width));
      kept += bytes(width);
    }
  }
  WaitEnds(const WaitEnds&) = delete;

  bool operator()(uint64_t value) const {
    const uint8_t width = load_.element_bytes;
    std::memcpy(at(load_.result(0), width), &value, width);
    for (const Instruction* ins = &load_ + 1; ins != &branch_; ++ins)
      ins->run(warp_, *ins, 1u << lane_);
    const uint32_t holds = *lanes<uint32_t>(warp_, branch_.guard);
    return (holds >> lane_ & 1) == wait_.ends_if;
  }

 private:
  // The lane's part of a register; of predicates, those of all lanes.
  uint8_t* at(Place place, uint8_t width) const {
    return lanes<uint8_t>(warp_, place) + lane_ * width;
  }
  static size_t bytes(uint8_t width) { return width ? width : 4; }

  Warp& warp_;
  const Instruction& load_;
  const Wait& wait_;
  const Instruction& branch_;
  const int lane_;
  std::vector<uint8_t> kept_;
};

}  // namespace

uint64_t flag_of(const Mine& mine, int lane) {
  const Access& a = mine.access;
  if (a.space != Space::kShared) return a.address[lane];
  const uint32_t owner = a.owner ? a.owner->number : mine.block.number;
  return Releases::in_shared(owner, a.address[lane]);
}

Flags::Flags(const Grid& grid, AccessTables& tables)
    : grid_(grid),
      log_(tables.log),
      releases_(tables.releases),
      alone_(grid.threads == 1),
      watches_(std::ranges::any_of(grid.program.functions, [](const auto& one) {
        return !one.second.waits.empty();
      })) {}

void Flags::synchronise(Mine& mine) {
  const Access& a = mine.access;
  std::optional<PassingFence> fence;
  if (mine.ins.releases)
    fence.emplace(mine.block, mine.warp.index, a.mask,
                  is_for_others(mine.ins, mine.block), log_.now());
  // With several host threads, each sees its own blocks' releases only; whoever
  // has a block's shared memory is one of these.
  const bool sees_all = alone_ || a.space == Space::kShared;
  const bool hands_over = mine.block.fenced || (mine.stores && watches_);
  if (sees_all && !hands_over && !mine.ins.waits && releases_.empty()) return;
  // Who does not look at what an atomic answers has read no flag.
  const AtomicForm form = mine.ins.atomic_form;
  const bool asks = mine.ins.acquires || (form != AtomicForm::kReduction &&
                                          form != AtomicForm::kDropped);
  const bool reads = a.use != Use::kStore && asks;
  for (uint32_t rest = a.mask; rest; rest &= rest - 1)
    of_lane(mine, first_lane(rest), sees_all, reads);
}

void Flags::of_lane(Mine& mine, int lane, bool sees_all, bool reads) {
  const Access& a = mine.access;
  const Time now = log_.now();
  const uint64_t flag = flag_of(mine, lane);
  if (sees_all) releases_.see(flag, a.at<uint8_t>(lane));
  if (reads) {
    Lesson lesson = lesson_of(mine, lane, flag, sees_all);
    // Who does not look at what a load brings knows of the flag what it has
    // read there before.
    if (mine.ins.unread) lesson = lesson.known_by(mine.order.read[lane]);
    if (lesson) mine.order.teach(lane, lesson);
    if (mine.ins.acquires)
      mine.order.learn(1u << lane, is_for_others(mine.ins, mine.block)
                                       ? lesson
                                       : lesson.within(mine.block.number));
  }
  if (!mine.stores) return;
  if (watches_ && sees_all && (a.bytes == 4 || a.bytes == 8))
    releases_.watch(flag, a.bytes, a.at<uint8_t>(lane), now);
  if (mine.block.fenced)
    releases_.release(mine.block, mine.warp.index, lane, flag,
                      a.use == Use::kAtomic, now + 1);
  if (sees_all && !mine.ins.waits) releases_.note_store(flag, now);
}

Lesson Flags::lesson_of(Mine& mine, int lane, uint64_t flag, bool sees_all) {
  if (!sees_all) return {log_.now() + 1};
  return mine.ins.waits ? waited_for(mine, lane, flag)
                        : releases_.at(flag, log_.now());
}

// A lane that waits might have gone on as soon as the flag had a value that it
// waits for. What others did before they changed it once more is another
// matter: it comes late only because we let the lane look late.
Lesson Flags::waited_for(Mine& mine, int lane, uint64_t flag) {
  const Time now = log_.now();
  const Function& function = grid_.program.function_of(mine.ins);
  Look& look = mine.order.look_of(lane);
  const Look last = look;
  const bool again =
      last.time && last.flag == flag && last.site == mine.ins.site;
  uint64_t there = 0;
  std::memcpy(&there, mine.access.at<uint8_t>(lane), mine.ins.element_bytes);
  const WaitEnds ends(mine.warp, function, mine.ins, lane);
  if (ends(there)) {
    look = {.met = flag, .met_at = now};
    return releases_.at_end(flag, mine.ins.element_bytes, again ? last.time : 0,
                            now, ends);
  }
  look = {flag, mine.ins.site, now, last.met, last.met_at};
  releases_.watch(flag, mine.ins.element_bytes, mine.access.at<uint8_t>(lane),
                  now);
  return releases_.at(flag, now);
}

}  // namespace simt
