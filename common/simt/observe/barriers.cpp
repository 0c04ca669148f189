// What orders threads, as the checker sees it: collectives, fences, barriers of
// the block and the cluster, barriers in shared memory.
#include <algorithm>

#include "common/simt/core/grid.h"
#include "common/simt/observe/checker.h"
#include "common/simt/observe/places.h"

namespace simt {
namespace {

std::string count_text(uint64_t n, const char* what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

}  // namespace

void Checker::collective(Warp& warp, const Instruction& ins, uint32_t mask,
                         uint32_t members) {
  // Shuffles, votes and their kin hand over values and order no memory.
  if (ins.orders) {
    enter_postponed(*warp.block);
    warp.block->checks->order.warps[warp.index].meet(members, races_.now());
  }
  if (!ins.mask_is_active) return;
  if (found_.again("activemask", ins.site)) return;
  Finding f = finding_at(
      warp, ins, first_lane(mask), "activemask",
      "the member mask of this collective comes from activemask, which names "
      "the lanes that happen to run together here. The hardware may split or "
      "join them as it likes, so lanes that the algorithm needs can be "
      "missing. Compute the mask from the condition, before the branch: "
      "__ballot_sync(mask, condition)");
  f.note = true;
  found_.add("activemask", ins.site, std::move(f));
}

void Checker::fence(Warp& warp, const Instruction& ins, uint32_t mask) {
  enter_postponed(*warp.block);
  BlockOrder& block = warp.block->checks->order;
  if (other_work_.is_asked()) other_work_.fence(warp, ins);
  block.fence(warp.index, mask, is_for_others(ins, block), races_.now());
  block.understand(warp.index, mask, is_for_others(ins, block));
}

void Checker::fence_for_copies(Warp& warp) {
  enter_postponed(*warp.block);
  warp.block->checks->order.fenced_for_copies = races_.now();
}

void Checker::fence_inits(Warp& warp) {
  warp.block->checks->order.fenced_inits = races_.now();
}

void Checker::wait_for_front(Warp& warp, uint32_t mask) {
  if (!grid_.shape.begins_early) return;
  enter_postponed(*warp.block);
  warp.block->checks->front.wait(warp, mask, races_.log());
}

// ---- Barriers in shared memory ---------------------------------------------

// What it orders is told apart: no flag is set, and none is read.
void Checker::mbarrier(Warp& warp, const Instruction& ins, const Access& a) {
  enter_postponed(*warp.block);
  values_.access(warp, ins, a);
  if (races_.full()) return;
  Mine mine = races_.mine_of(warp, ins, a);
  if (!warp.block->copies.empty() || a.owner) against_copies(mine);
  races_.check(mine);
  if (a.owner) note_visit(warp, ins, a);
}

void Checker::hand_over(Warp& warp, const Access& barriers, int lane) {
  enter_postponed(*warp.block);
  const uint64_t barrier = barriers.address[lane];
  const Time now = races_.now();
  BlockOrder& mine = warp.block->checks->order;
  BlockOrder& theirs = barriers.owner ? barriers.owner->checks->order : mine;
  if (&theirs == &mine) mine.hand_over(barrier, warp.index, 1u << lane, now);
  if (!mine.cluster.empty()) theirs.tell(barrier, mine, warp.index, now);
}

// ---- Barriers of the block and the cluster ---------------------------------

void Checker::arrive(Warp& warp, const Instruction& ins, uint32_t mask,
                     uint32_t number) {
  BlockOrder& block = warp.block->checks->order;
  BarrierOrder& barrier = block.barriers[number];
  const bool counted = number >= Block::kBarriers || ins.source(1) != kNowhere;
  if (counted) {
    enter_postponed(*warp.block);
    if (number < Block::kBarriers) {
      if (block.is_stranger(number, warp.index))
        note_stranger(warp, ins, mask, number);
      barrier.coming |= 1u << warp.index;
    }
    block.come(number, warp.index, races_.now());
  }
  if (!barrier.first) {
    barrier.first = &ins;
    barrier.first_warp = warp.index;
    barrier.first_lane = first_lane(mask);
    return;
  }
  if (counted || barrier.first == &ins) return;
  note_different(warp, ins, mask, barrier);
}

void Checker::note_different(Warp& warp, const Instruction& ins, uint32_t mask,
                             const BarrierOrder& barrier) {
  constexpr char kDifferent[] = "different barriers";
  const Instruction& first = *barrier.first;
  if (found_.again(kDifferent, ins.site, first.site)) return;
  Finding f = finding_at(warp, ins, first_lane(mask), kDifferent, "");
  place_other(grid_, f, first, warp.block->checks->order.number,
              barrier.first_warp * kLanes + barrier.first_lane);
  f.message = "this barrier is reached while thread " + triple(f.other_thread) +
              " waits at another one, at " +
              grid_.program.location(first.where) +
              ". A barrier must be the same one for all threads of the block";
  found_.add(kDifferent, ins.site, first.site, std::move(f));
}

// A barrier counts threads, whoever they are.
void Checker::note_stranger(Warp& warp, const Instruction& ins, uint32_t mask,
                            uint32_t number) {
  constexpr char kMixed[] = "mixed barrier";
  if (found_.again(kMixed, ins.site)) return;
  const BarrierOrder& barrier = warp.block->checks->order.barriers[number];
  std::string others;
  for (uint32_t rest = barrier.came; rest; rest &= rest - 1)
    others +=
        (others.empty() ? "" : " and ") + std::to_string(first_lane(rest));
  found_.add(
      kMixed, ins.site,
      finding_at(warp, ins, first_lane(mask), kMixed,
                 "warp " + std::to_string(warp.index) + " comes to barrier " +
                     std::to_string(number) + ". Other warps (" + others +
                     ") have met there, and nothing says that this one comes "
                     "after that. The barrier counts threads, whoever they "
                     "are, so it may open for a part of each group. Give each "
                     "group a barrier with a number of its own"));
}

void Checker::arrive_relaxed(Warp& warp, uint32_t barrier) {
  enter_postponed(*warp.block);
  warp.block->checks->order.come_relaxed(barrier, warp.index);
}

void Checker::pass(Warp& warp, uint32_t barrier) {
  enter_postponed(*warp.block);
  warp.block->checks->order.go_on(barrier, warp.index);
}

void Checker::release(Block& block, uint32_t number, bool counted,
                      const LanesByWarp& waiting) {
  BlockChecks& checks = *block.checks;
  BarrierOrder& barrier = checks.order.barriers[number];
  if (counted) {
    release_counted(block, number, waiting);
  } else {
    checks.postponed.clear();
    checks.postpones = block.cluster.empty();
    checks.order.meet(races_.now());
    if (block.live != grid_.threads_per_block && barrier.first)
      note_absent(block, *barrier.first);
  }
  barrier.first = nullptr;
}

void Checker::release_counted(Block& block, uint32_t number,
                              const LanesByWarp& waiting) {
  enter_postponed(block);
  BlockOrder& order = block.checks->order;
  const bool of_cluster = number >= Block::kBarriers;
  if (of_cluster) order.known_inits = order.fenced_inits;
  uint32_t waiting_warps = 0;
  for (uint32_t w = 0; w < order.warps.size(); ++w) {
    if (!waiting[w]) continue;
    waiting_warps |= 1u << w;
    if (of_cluster) {
      order.go_on(number, w);
    } else {
      order.go(number, w);
      order.warps[w].meet(waiting[w], races_.now());
    }
  }
  if (!of_cluster) order.open(number, waiting_warps, races_.now());
  // Of the cluster's two, those who pass this one later need what it knows.
  BarrierOrder& used = order.barriers[of_cluster ? number ^ 1 : number];
  std::fill(used.known.begin(), used.known.end(), 0);
  used.in_cluster.clear();
}

void Checker::note_absent(Block& block, const Instruction& ins) {
  if (found_.again("barrier without all", 0)) return;
  for (const Warp* warp : block.warps) {
    const uint32_t gone = warp->threads & ~warp->live;
    if (!gone) continue;
    Finding f = finding_at(
        *warp, ins, first_lane(gone), "barrier without all",
        "the block's barrier opened without " +
            count_text(grid_.threads_per_block - block.live, "thread") +
            " that had ended before, this one first. It works, because a "
            "barrier waits only for threads that have not ended; it breaks as "
            "soon as such a thread is needed after the barrier, or leaves "
            "the branch without ending. Let all threads reach it");
    f.note = true;
    return found_.add("barrier without all", 0, std::move(f));
  }
}

}  // namespace simt
