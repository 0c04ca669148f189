// A block: its warps take turns, and meet at barriers.
#include <algorithm>

#include "common/simt/grid.h"

namespace simt {

Block::Block(Grid& grid, Observers observers)
    : grid(&grid), shared(grid.shared_bytes()), observers(observers) {
  // Shared memory begins undefined; make that visible.
  std::fill_n(shared.data(), shared.size(), uint8_t{0xff});
  const uint32_t threads = grid.threads_per_block;
  if (observers.checker)
    checks = std::make_unique<BlockChecks>(shared.size(), threads);
  for (uint32_t first = 0; first < threads; first += kLanes) {
    const uint32_t left = threads - first;
    const uint32_t mask = left >= kLanes ? kAllLanes : (1u << left) - 1;
    warps.push_back(std::make_unique<Warp>(*this, first / kLanes, mask));
  }
}

void Block::start(uint64_t block_number) {
  number = block_number;
  const unsigned* size = grid->shape.grid;
  id[0] = number % size[0];
  id[1] = number / size[0] % size[1];
  id[2] = number / size[0] / size[1];
  std::fill(std::begin(barriers), std::end(barriers), Barrier{});
  awaited = 0;
  live = grid->threads_per_block;
  for (auto& warp : warps) warp->start();
  observers.start(*this);
}

Block::End Block::run() {
  for (;;) {
    bool ran = false, progress = false;
    for (auto& warp : warps) {
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
    if (std::any_of(warps.begin(), warps.end(),
                    [](const auto& w) { return w->ready(); }))
      continue;
    const bool spins = std::any_of(warps.begin(), warps.end(),
                                   [](const auto& w) { return w->spins(); });
    if (!spins) deadlock();
    bool released = false;
    for (auto& warp : warps)
      if (warp->spins()) released |= warp->release_join_waiters();
    if (!released) return End::kSpinning;
    wake();
  }
}

bool Block::wake() {
  bool any = false;
  for (auto& warp : warps) any |= warp->wake();
  return any;
}

bool Block::stuck() const {
  return std::any_of(warps.begin(), warps.end(),
                     [](const auto& warp) { return warp->stuck(); });
}

void Block::check_barrier(uint32_t k) {
  Barrier& b = barriers[k];
  if (b.arrived == 0 || b.arrived < (b.expected ? b.expected : live)) return;
  results_count = b.count;
  results_lanes = b.lanes;
  observers.release(*this, k, b.expected != 0);
  b = Barrier{};
  awaited &= ~(1u << k);
  for (auto& warp : warps) warp->release(k);
}

void Block::check_barriers() {
  for (uint32_t rest = awaited; rest; rest &= rest - 1)
    check_barrier(first_lane(rest));
}

std::string Block::describe_waiting() const {
  std::string text;
  int lines = 0;
  for (const auto& warp : warps) {
    const std::string one = warp->describe_waiting();
    if (!one.empty() && lines++ == 8) return text + "\n  ... and more";
    text += one;
  }
  return text;
}

bool Block::any_waits(Path::State state) const {
  return std::any_of(warps.begin(), warps.end(), [&](const auto& w) {
    return w->waiting(state) != nullptr;
  });
}

Finding Block::stuck(Path::State state, const std::string& kind,
                     const std::string& what) const {
  // A warp that is divided tells more than one that waits as a whole.
  for (const bool divided : {true, false})
    for (const auto& warp : warps)
      if (const Path* path = warp->waiting(state);
          path && (path->mask != warp->live()) == divided)
        return warp->finding(*path, kind, what + describe_waiting());
  throw Error("a block stands still and nobody waits: a bug of the executor");
}

void Block::deadlock() {
  int barriers = 0;
  for (uint32_t k = 0; k < kBarriers; ++k)
    barriers += std::any_of(warps.begin(), warps.end(),
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
