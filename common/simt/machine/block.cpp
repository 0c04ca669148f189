// A block: its warps take turns, and meet at barriers.
#include <algorithm>

#include "common/simt/core/error.h"
#include "common/simt/machine/block_run.h"
#include "common/simt/observe/observers.h"

namespace simt {

BlockRun::BlockRun(Grid& grid, Observers observers) : Block(grid, observers) {
  // Shared memory begins undefined; make that visible.
  std::fill_n(shared.data(), shared.size(), uint8_t{0xff});
  const uint32_t threads = grid.threads_per_block;
  if (observers.checker)
    checks = std::make_shared<BlockChecks>(shared.size(), threads);
  for (uint32_t first = 0; first < threads; first += kLanes) {
    const uint32_t left = threads - first;
    const uint32_t mask = left >= kLanes ? kAllLanes : (1u << left) - 1;
    runs.push_back(std::make_unique<WarpRun>(*this, first / kLanes, mask));
    warps.push_back(runs.back().get());
  }
}

void BlockRun::start(uint64_t block_number) {
  number = block_number;
  const unsigned* size = grid->shape.grid;
  id[0] = number % size[0];
  id[1] = number / size[0] % size[1];
  id[2] = number / size[0] / size[1];
  std::fill(std::begin(barriers), std::end(barriers), Barrier{});
  awaited = 0;
  live = grid->threads_per_block;
  for (auto& warp : runs) warp->start();
  observe::start(*this);
}

BlockRun::End BlockRun::run() {
  for (;;) {
    bool ran = false, progress = false;
    for (auto& warp : runs) {
      if (!warp->ready()) continue;
      ran = true;
      progress |= warp->run();
    }
    if (live == 0) return End::kFinished;
    if (progress) grid->progress.fetch_add(1, std::memory_order_relaxed);
    if (ran && progress) {
      wake();
      continue;
    }
    if (std::any_of(runs.begin(), runs.end(),
                    [](const auto& w) { return w->ready(); }))
      continue;
    const bool spins = std::any_of(runs.begin(), runs.end(),
                                   [](const auto& w) { return w->spins(); });
    if (!spins) deadlock();
    bool released = false;
    for (auto& warp : runs)
      if (warp->spins()) released |= warp->release_join_waiters();
    if (!released) return End::kSpinning;
    wake();
  }
}

bool BlockRun::wake() {
  bool any = false;
  for (auto& warp : runs) any |= warp->wake();
  return any;
}

bool BlockRun::stuck() const {
  return std::any_of(runs.begin(), runs.end(),
                     [](const auto& warp) { return warp->stuck(); });
}

void BlockRun::check_barrier(uint32_t k) {
  Barrier& b = barriers[k];
  if (b.arrived == 0 || b.arrived < (b.expected ? b.expected : live)) return;
  results_count = b.count;
  results_lanes = b.lanes;
  observe::release(*this, k, b.expected != 0,
                   b.expected ? waiting_lanes(k) : LanesByWarp{});
  b = Barrier{};
  awaited &= ~(1u << k);
  for (auto& warp : runs) warp->release(k);
}

void BlockRun::check_barriers() {
  for (uint32_t rest = awaited; rest; rest &= rest - 1)
    check_barrier(first_lane(rest));
}

LanesByWarp BlockRun::waiting_lanes(uint32_t barrier) const {
  LanesByWarp lanes = {};
  for (const auto& warp : runs) lanes[warp->index] = warp->waits_at(barrier);
  return lanes;
}

std::string BlockRun::describe_waiting() const {
  std::string text;
  int lines = 0;
  for (const auto& warp : runs) {
    const std::string one = warp->describe_waiting();
    if (!one.empty() && lines++ == 8) return text + "\n  ... and more";
    text += one;
  }
  return text;
}

bool BlockRun::any_waits(Path::State state) const {
  return std::any_of(runs.begin(), runs.end(), [&](const auto& w) {
    return w->waiting(state) != nullptr;
  });
}

Finding BlockRun::stuck(Path::State state, const std::string& kind,
                        const std::string& what) const {
  // A warp that is divided tells more than one that waits as a whole.
  for (const bool divided : {true, false})
    for (const auto& warp : runs)
      if (const Path* path = warp->waiting(state);
          path && (path->mask != warp->live) == divided)
        return warp->finding(*path, kind, what + describe_waiting());
  throw Error("a block stands still and nobody waits: a bug of the executor");
}

void BlockRun::deadlock() {
  int barriers = 0;
  for (uint32_t k = 0; k < kBarriers; ++k)
    barriers += std::any_of(runs.begin(), runs.end(),
                            [&](const auto& w) { return w->waits_at(k) != 0; });
  const bool in_collective = any_waits(Path::kAtCollective);
  if (barriers + in_collective > 1)
    throw PlacedFault(719, stuck(Path::kAtBarrier, "deadlock",
                                 "threads of the block wait for one another "
                                 "in different places:"));
  if (barriers)
    throw PlacedFault(719, stuck(Path::kAtBarrier, "partial barrier",
                                 "part of the block waits at a barrier that "
                                 "the others do not come to:"));
  throw PlacedFault(719, stuck(Path::kAtCollective, "missing lanes",
                               "a warp collective waits for lanes that its "
                               "mask names and that do not come:"));
}

}  // namespace simt
