// A block: its warps take turns, and meet at barriers.
#include <time.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "common/simt/core/error.h"
#include "common/simt/isa/async/async.h"
#include "common/simt/machine/block_run.h"
#include "common/simt/observe/observers.h"

namespace simt {
namespace {

double thread_seconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * time.tv_nsec;
}

// After so many turns others have theirs, if it may be them who are waited for;
// and the clock is read, unless the turns are long enough to read it each time.
constexpr uint32_t kTurns = 64;

// If joins had to be opened so many times, threads take something in turn, such
// as a lock: all but one look for it in vain each time, and had better do so
// only once.
constexpr uint32_t kOften = 8;

}  // namespace

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
  id = coordinates(number, grid->shape.grid);
  std::fill(std::begin(barriers), std::end(barriers), Barrier{});
  awaited = 0;
  cluster_barrier = kBarriers;
  met_cluster = false;
  quiet = turn_over_ = loops_ = clock_stands = false;
  seconds_ = 0;
  openings_ = 0;
  copies.clear();
  warpgroups.fill({});
  live = live_then_ = grid->threads_per_block;
  for (auto& warp : runs) warp->start();
  observe::start(*this);
}

void BlockRun::join(const std::vector<BlockRun*>& blocks, uint32_t new_rank) {
  cluster.assign(blocks.begin(), blocks.end());
  rank = new_rank;
}

bool BlockRun::cluster_ended() const {
  return std::all_of(cluster.begin(), cluster.end(),
                     [](const Block* b) { return b->live == 0; });
}

bool BlockRun::run() {
  turns_ = 0;
  if (grid->takes_turns) clock_ = thread_seconds();
  circles_ = polls_ = waits_for_cluster_ = false;
  for (;;) {
    bool ran = false;
    if (std::exchange(turn_over_, false))
      for (auto& warp : runs) warp->wake();
    for (auto& warp : runs) {
      if (!warp->ready()) continue;
      ran = true;
      warp->run();
    }
    if (live == 0) {
      end_copies(*this);
      observe::end(*this);
      note_change();
      return true;
    }
    if (!ran && stands_still_for_cluster()) return false;
    if (!ran) deadlock();
    if (!turn_over_) continue;
    end_turn();
    if (circles_ || grid->takes_turns || (polls_ && turns_ >= kTurns)) {
      lap();
      return false;
    }
  }
}

// Nobody can go on before other blocks of the cluster come to its barrier.
bool BlockRun::stands_still_for_cluster() {
  if (cluster.empty() || awaited >> kBarriers == 0) return false;
  if (!quiet) note_change();
  quiet = circles_ = waits_for_cluster_ = true;
  since_ = grid->changes;
  return true;
}

// Some paths have given way: what is it that they do?
void BlockRun::end_turn() {
  if (turns_++ % kTurns == 0 || std::exchange(loops_, false)) lap();
  if (!(circles_ = circles())) return;
  if (open_joins(Path::kGaveWay)) {
    circles_ = false;
    if (++openings_ < kOften) return;
  }
  for (auto& warp : runs) warp->note_circle();
}

// Tells the other blocks that memory may have changed.
void BlockRun::note_change() {
  grid->changes.fetch_add(1);
  quiet = false;
}

bool BlockRun::circles() {
  if (!quiet) note_change();
  const uint64_t changes = grid->changes;
  if (!quiet || since_ != changes) {
    quiet = true;
    meets_host = false;
    since_ = changes;
    age_ = oldest_ = quiet_turns_ = 0;
    ages_ = 0;
    clock_stands = false;
    return false;
  }
  // As a rule, a few lanes look at a word while all others wait for them. To
  // look at these again each time would take longer than to run those.
  constexpr uint64_t kPatience = 4, kStops = 32, kGoesOn = 160;
  if (++quiet_turns_ == kPatience) age_ = oldest_ = 0;
  // Who waits for memory and reads the clock, too, is in the same state again
  // only while the clock stands.
  clock_stands = kStops <= quiet_turns_ && quiet_turns_ < kGoesOn &&
                 !meets_host && grid->threads == 1;
  const uint64_t now = state(quiet_turns_ >= kPatience);
  if (oldest_ && now == past_) return true;
  if (age_++ == oldest_) {
    past_ = now;
    age_ = 0;
    oldest_ = oldest_ * 2 + 1;
  }
  return false;
}

bool BlockRun::pass_time() {
  constexpr int kAges = 3;
  constexpr uint64_t kAge = (1ull << 42) + (1 << 30);  // long in 32 bits, too
  if (ages_ == kAges) return false;
  bool looked = false;
  for (auto& warp : runs) {
    if (!warp->clock_stood) continue;
    looked = true;
    warp->clock_ahead += kAge;
    warp->clock_stood = 0;
  }
  if (!looked) return false;
  ++ages_;
  circles_ = clock_stands = false;
  age_ = oldest_ = quiet_turns_ = 0;
  return true;
}

uint64_t BlockRun::state(bool whole) {
  uint64_t sum = 0;
  const auto add = [&](uint64_t word) {
    sum = (sum ^ word) * 0x9e3779b97f4a7c15;
  };
  for (auto& warp : runs) add(warp->state(whole));
  for (uint32_t rest = awaited; rest; rest &= rest - 1) {
    const Barrier& b = barriers[first_lane(rest)];
    add(uint64_t{b.arrived} << 32 | b.count);
  }
  return sum;
}

namespace {

// Of all warps, also if the first of them has opened something.
template <class Opens>
bool any_opens(std::vector<std::unique_ptr<WarpRun>>& warps, Opens opens) {
  bool any = false;
  for (auto& warp : warps) any |= opens(*warp);
  return any;
}

}  // namespace

// Lets lanes go on that wait at a join for others that go round in a circle, or
// that wait in a collective.
bool BlockRun::open_joins(Path::State state) {
  return any_opens(runs, [&](WarpRun& w) { return w.open_joins(state); });
}

// Lets lanes go on that have returned from a call in which others wait at a
// barrier: no GPU makes them wait, and it opens if they end.
bool BlockRun::open_returns() {
  return any_opens(runs, [](WarpRun& w) { return w.open_returns(); });
}

// ---- Time ----------------------------------------------------------------

namespace {

constexpr char kWaitsForHost[] =
    ", and they read memory that the host may change, and the host waits, too";

}  // namespace

// Called at the first turn of each run(), and again before others run; where
// blocks take turns, only at the end of each.
void BlockRun::lap() {
  const double now = thread_seconds();
  const double before = std::exchange(clock_, now);
  if (turns_ > 1 || grid->takes_turns) add_seconds(now - before);
}

void BlockRun::add_seconds(double seconds) {
  seconds_ = live == live_then_ ? seconds_ + seconds : 0;
  live_then_ = live;
  const double limit = grid->patience;
  if (limit == 0 || seconds_ < limit) return;
  const std::string allowed = (std::ostringstream() << limit).str();
  throw PlacedFault(
      702, finding(Path::kGaveWay, "time limit",
                   "none of this block's threads has ended in " + allowed +
                       " s of the executor's time" +
                       (meets_host ? kWaitsForHost : "") +
                       ". That is the executor's own limit; the program may be "
                       "right. If its threads only need more time, set "
                       "SIMT_PATIENCE to more than " +
                       allowed + ", or to 0 for no limit:"));
}

void BlockRun::livelock(uint64_t unbegun) const {
  if (waits_for_cluster_) throw standstill();
  const bool at_mbarriers = std::all_of(
      runs.begin(), runs.end(), [](const auto& w) { return w->only_awaits(); });
  if (at_mbarriers)
    throw PlacedFault(
        kLaunchFailure,
        finding(Path::kGaveWay, "deadlock",
                "threads wait at an mbarrier, and no thread is left that could "
                "complete its phase:"));
  std::string what =
      polls_ ? "every remaining thread waits for memory that no thread changes"
             : "every remaining thread is in a loop that nothing will ever end";
  if (unbegun)
    what += ", and " + std::to_string(unbegun) +
            " blocks cannot begin before others have ended: there is no room "
            "for so many at a time";
  if (grid->shape.cooperative && std::ranges::any_of(runs, [](const auto& w) {
        return w->waits_for_group();
      }))
    what +=
        ". All threads of all blocks must come to each grid.sync(), also those "
        "that have nothing to do";
  if (std::any_of(runs.begin(), runs.end(),
                  [](const auto& w) { return w->loops_idly(); }))
    what +=
        ". The loop is empty: nvcc takes it that no other thread changes a "
        "plain variable, and reads it once, ahead of the loop. Let the loop "
        "wait for an atomic or a volatile one. (Where a kernel calls a "
        "function of the host's, such as std::min, nvcc warns, #20013-D or "
        "#20014-D, and may leave an empty loop, too)";
  throw PlacedFault(kLaunchFailure,
                    finding(Path::kGaveWay, "livelock", what + ":"));
}

// ---- Barriers ------------------------------------------------------------

void BlockRun::check_barrier(uint32_t k) {
  if (k >= kBarriers) return check_cluster_barrier(k);
  Barrier& b = barriers[k];
  if (b.arrived == 0 || b.arrived < (b.expected ? b.expected : live)) return;
  results_count = b.count;
  results_lanes = b.lanes;
  const bool counted = b.expected != 0;
  observe::release(*this, k, counted,
                   counted ? waiting_lanes(k) : LanesByWarp{});
  b = Barrier{};
  awaited &= ~(1u << k);
  for (auto& warp : runs) warp->release(k);
}

void BlockRun::check_cluster_barrier(uint32_t k) {
  if (cluster.empty()) {
    const uint32_t arrived = barriers[k].arrived;
    if (arrived && arrived >= live) open_cluster_barrier(k);
    return;
  }
  uint32_t arrived = 0, all = 0;
  for (const Block* b : cluster) {
    arrived += b->barriers[k].arrived;
    all += b->live;
  }
  if (arrived == 0 || arrived < all) return;
  for (Block* b : cluster) static_cast<BlockRun*>(b)->open_cluster_barrier(k);
}

void BlockRun::open_cluster_barrier(uint32_t k) {
  observe::release(*this, k, true, waiting_lanes(k));
  met_cluster = true;
  cluster_barrier = k ^ 1;
  for (auto& warp : runs) warp->open_cluster_barrier();
  barriers[k] = Barrier{};
  awaited &= ~(1u << k);
  for (auto& warp : runs) warp->release(k);
  if (!cluster.empty()) note_change();
}

// Who ends is waited for no more, also by other blocks of the cluster.
void BlockRun::check_barriers() {
  for (uint32_t rest = awaited; rest; rest &= rest - 1)
    check_barrier(first_lane(rest));
  if (!cluster.empty()) check_cluster_barrier(cluster_barrier);
}

// All have computed their part before one of them says that it has been read.
void BlockRun::check_warpgroup(uint32_t group) {
  const auto first = runs.begin() + group * Warpgroup::kWarps;
  const uint32_t number = kOfWarpgroups + group;
  const bool all = std::all_of(
      first, first + Warpgroup::kWarps,
      [&](const auto& w) { return w->waits_at(number) == kAllLanes; });
  for (uint32_t w = 0; all && w < Warpgroup::kWarps; ++w)
    first[w]->release(number);
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

Finding BlockRun::finding(Path::State state, const std::string& kind,
                          const std::string& what) const {
  // A warp that is divided tells more than one that waits as a whole.
  for (const bool divided : {true, false})
    for (const auto& warp : runs)
      if (const Path* path = warp->waiting(state);
          path && (path->mask != warp->live) == divided)
        return warp->finding(*path, kind, what + describe_waiting());
  throw Error(
      "no thread of a block goes on, and none waits: a bug of the executor");
}

PlacedFault BlockRun::standstill() const {
  int barriers = 0;
  for (uint32_t k = 0; k < std::size(this->barriers); ++k)
    barriers += std::any_of(runs.begin(), runs.end(),
                            [&](const auto& w) { return w->waits_at(k) != 0; });
  const bool in_collective = any_waits(Path::kAtCollective);
  const bool in_warpgroup =
      std::any_of(runs.begin(), runs.end(),
                  [](const auto& w) { return w->waits_for_warpgroup(); });
  const int places = barriers + in_collective + in_warpgroup;
  if (waits_for_cluster_ && places == 1) return cluster_standstill();
  if (places > 1)
    return {kLaunchFailure,
            finding(Path::kAtBarrier, "deadlock",
                    "threads of the block wait for one another in "
                    "different places:")};
  if (barriers)
    return {kLaunchFailure,
            finding(Path::kAtBarrier, "partial barrier",
                    "part of the block waits at a barrier that the others "
                    "do not come to" +
                        describe_count() + ":")};
  if (in_warpgroup)
    return {kLaunchFailure,
            finding(Path::kAtBarrier, "missing warps",
                    "a warpgroup waits in a wgmma.mma_async, which its four "
                    "warps execute together, for those that do not come:")};
  return {kLaunchFailure,
          finding(Path::kAtCollective, "missing lanes",
                  "a warp collective waits for lanes that its mask names "
                  "and that do not come:")};
}

// Of a barrier that wants a number of threads, how many there are.
std::string BlockRun::describe_count() const {
  for (uint32_t k = 0; k < std::size(barriers); ++k)
    if (const Barrier& b = barriers[k]; b.expected && b.arrived)
      return " (barrier " + std::to_string(k) + " wants " +
             std::to_string(b.expected) + " threads, " +
             std::to_string(b.arrived) + " have come)";
  return "";
}

// All of this block wait at the cluster's barrier, or have ended.
PlacedFault BlockRun::cluster_standstill() const {
  Finding f = finding(Path::kAtBarrier, "deadlock",
                      "threads wait at the cluster's barrier, and others of "
                      "the cluster do not come to it:");
  for (const Block* b : cluster)
    if (b != this)
      f.message += "\n  and of block " + triple(b->id) +
                   static_cast<const BlockRun*>(b)->describe_waiting();
  return {kLaunchFailure, f};
}

// Nobody can go on. Lanes at a join may still come to the collective that lacks
// them: they go on alone, and are told of if they end up anywhere else.
void BlockRun::deadlock() {
  if (lacks_lanes()) lanes_went_elsewhere();
  const PlacedFault fault = standstill();
  if (open_returns()) return;
  if (!open_joins(Path::kAtCollective)) throw fault;
  standstill_ = fault;
}

bool BlockRun::lacks_lanes() const {
  return std::any_of(runs.begin(), runs.end(),
                     [](const auto& w) { return w->lacks(kAllLanes); });
}

}  // namespace simt
