// Accesses to another block's shared memory: that block must have begun, and
// must not end before it knows of them.
#include <algorithm>

#include "common/simt/core/grid.h"
#include "common/simt/observe/checker.h"
#include "common/simt/observe/places.h"

namespace simt {

void Checker::note_visit(Warp& warp, const Instruction& ins, const Access& a) {
  const BlockOrder& mine = warp.block->checks->order;
  BlockOrder& theirs = a.owner->checks->order;
  theirs.visit_of(mine, warp.index) = {races_.now() - 1, &warp, &ins,
                                       first_lane(a.mask)};
  const auto& known = mine.in_cluster[warp.index];
  const bool any_known =
      std::any_of(known.begin(), known.end(), [](Time t) { return t != 0; });
  if (warp.block->met_cluster || any_known) return;
  if (found_.again("block not begun", ins.site)) return;
  found_.add(
      "block not begun", ins.site,
      finding_at(
          warp, ins, first_lane(a.mask), "block not begun",
          std::string(verb(a.use)) + " of " +
              text_of_place(grid_, a.space, a.address[first_lane(a.mask)]) +
              " of block " +
              triple(coordinates(a.owner->number, grid_.shape.grid)) +
              ", and nothing says that that block has begun. Let all "
              "threads of the cluster meet at its barrier first"));
}

void Checker::check_visits(const Block& block) {
  const BlockOrder& order = block.checks->order;
  for (size_t k = 0; k < order.visits.size(); ++k) {
    const Visit& visit = order.visits[k];
    if (visit.time == 0 || order.knows_visit(k)) continue;
    if (found_.again("block ended", visit.ins->site)) continue;
    found_.add(
        "block ended", visit.ins->site,
        finding_at(*visit.warp, *visit.ins, visit.lane, "block ended",
                   "it touches the shared memory of block " +
                       triple(coordinates(block.number, grid_.shape.grid)) +
                       ", which may have ended before: nothing makes it "
                       "wait. Let all threads of the cluster meet at its "
                       "barrier after this"));
  }
}

}  // namespace simt
