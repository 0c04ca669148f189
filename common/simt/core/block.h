// A block as instructions and observers see it: its shared memory, its warps.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/simt/core/aligned_bytes.h"
#include "common/simt/core/async.h"
#include "common/simt/core/grid.h"
#include "common/simt/core/warp.h"

namespace simt {

class Counters;
class Checker;
class Trace;
struct BlockChecks;

// Who watches a block; null where nobody does. observe/observers.h tells them.
struct Observers {
  Counters* counters = nullptr;  // null: SIMT_COUNTERS=off
  Checker* checker = nullptr;    // null: SIMT_CHECKS=off
  Trace* trace = nullptr;        // null: no SIMT_TRACE
};

// The allocation that each memory instruction touched last, as long as nobody
// frees one.
class AllocationCache {
 public:
  struct Range {
    uint64_t begin = 0, end = 0;  // holds no access
    uint64_t distance = 0;        // to where the executor finds it
    bool of_host = false;         // the host program may change it, too
    bool of_peer = false;         // it is another device's
    int device = 0;
    bool others() const { return of_host || of_peer; }
  };
  // `version` is that of all allocations.
  Range& of(uint32_t site, uint64_t version) {
    if (version != version_) {
      ranges_.fill({});
      version_ = version;
    }
    return ranges_[site % kSlots];
  }

 private:
  static constexpr int kSlots = 64;
  std::array<Range, kSlots> ranges_;
  uint64_t version_ = 0;
};

struct Barrier {
  uint32_t arrived = 0;   // threads that wait here, or were counted
  uint32_t expected = 0;  // so many are needed; 0: all that have not exited
  uint32_t count = 0;     // bar.red: lanes whose predicate was true,
  uint32_t lanes = 0;     //   of so many
};

// Four warps that multiply together, by wgmma.
struct Warpgroup {
  static constexpr uint32_t kWarps = 4;
  uint64_t begun = 0;                   // products, by the warp ahead
  const Instruction* newest = nullptr;  // of these
};

// Lanes of each warp of a block.
using LanesByWarp = std::array<uint32_t, 32>;

struct Block {
  Block(Grid& grid, Observers observers)
      : grid(&grid),
        shared(grid.all_shared()),
        shared_alone(grid.shape.cluster_blocks() == 1 ? grid.shared_end() : 0),
        observers(observers) {}
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  // A generic address without the block's own rank, if it says that.
  uint64_t within(uint64_t address) const {
    const uint64_t own = kSharedWindow | uint64_t{rank} << kRankShift;
    return address >> kRankShift == own >> kRankShift
               ? kSharedWindow | (address & ((1u << kRankShift) - 1))
               : address;
  }

  Grid* const grid;
  uint64_t number = 0;  // in launch order
  std::array<uint32_t, 3> id = {};
  AlignedBytes shared;
  const size_t shared_alone;    // so many bytes of it if none is another's
  std::vector<Block*> cluster;  // by rank; empty: this block alone
  uint32_t rank = 0;
  bool met_cluster = false;  // at its barrier: all have begun
  AllocationCache ranges;
  const Observers observers;
  std::shared_ptr<BlockChecks> checks;  // null: nobody checks
  // Those of bar.sync, 0 to 15; and the cluster's, of which each block counts
  // its own threads. That one takes turns between two, as threads may come to
  // the next before others have left the last.
  static constexpr int kBarriers = 16;
  // And the first number of those at which warpgroups meet.
  static constexpr uint32_t kOfWarpgroups = kBarriers + 2;
  Barrier barriers[kBarriers + 2];
  uint32_t cluster_barrier = kBarriers;  // to which threads now come
  uint32_t live = 0;                     // threads that have not exited
  // Since whoever waits began to look: nothing in memory was changed; memory
  // was read that the host program may change. Stores are compared only while
  // `quiet` holds.
  bool quiet = false, meets_host = false;
  bool clock_stands = false;  // for who waits for something else
  uint32_t results_count = 0, results_lanes = 0;  // of the last bar.red
  std::vector<Warp*> warps;
  AsyncCopies copies;
  std::array<Warpgroup, 8> warpgroups;
};

}  // namespace simt
