// What is known to have happened before what: barriers, warp collectives, and
// the patterns of fence, flag and atomic by which threads hand data over.
//
// Knowledge is kept as times: what a warp did before the time that another has
// for it is ordered before whatever the other does next.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/simt/core/block.h"
#include "common/simt/core/warp.h"
#include "common/simt/observe/shadow.h"

namespace simt {

// The last fence of any lane of a warp.
struct Fence {
  Time at = 0;
  Time met = 0;  // when the block had last met before it
};

struct WarpOrder {
  uint32_t lanes = 0;  // that have a thread
  Time synced = 0;     // when all lanes last met
  // Since then only some have met: known[l][m] is what lane l knows of m.
  bool partly = false;
  std::unique_ptr<std::array<std::array<Time, kLanes>, kLanes>> known;
  Fence block_fence;   // __threadfence_block, or
  Fence device_fence;  //   __threadfence, which is both
  // What others released before this time, a lane has acquired.
  std::array<Time, kLanes> acquired{};
  Time acquired_most = 0;

  void meet(uint32_t members, Time now);
  void acquire(int lane, Time released);
};

struct BarrierOrder {
  const Instruction* first = nullptr;  // who came first, and by what
  uint32_t first_warp = 0, first_lane = 0;
  bool differs = false;     // another barrier was met at the same time
  std::vector<Time> known;  // by warp: what those who came know
};

struct BlockOrder {
  uint32_t number = 0;
  Time met = 0;  // when all its threads last met
  std::vector<WarpOrder> warps;
  std::vector<Time> across;  // [w * warps + v]: what w knows of v; or empty
  // By warp: what it did before has been handed out, within the block.
  std::vector<Time> released;
  std::array<BarrierOrder, Block::kBarriers + 2> barriers;

  void start(uint32_t block, Time now);
  void fence(uint32_t warp, bool for_device, Time now);
  void meet(Time now);  // at a barrier of all threads
  void come(uint32_t barrier, uint32_t warp, Time now);
  void go(uint32_t barrier, uint32_t warp);
  Time known_across(uint32_t warp, uint32_t of) const {
    return across.empty() ? 0 : across[warp * warps.size() + of];
  }
};

// Which blocks have handed out what they had done, and where: a fence and then
// an atomic or volatile store. A fence for the block hands it to the block
// alone. Tables of a fixed size; what falls out of them counts as handed out.
class Releases {
 public:
  Releases();
  void clear();
  void release(BlockOrder& block, uint32_t warp, uint64_t address, Time now);
  // What who reads this flag now learns of: all that was released until then.
  Time acquired_at(uint64_t address, Time now) const;
  // Whether what a warp did at `time` has been released to all blocks since.
  bool covers(uint32_t block, uint32_t warp, Time time) const;

 private:
  struct Flag {
    uint64_t address = 0;
    Time time = 0;
    bool replaced = false;
  };
  struct Cover {
    uint32_t block = 0;
    bool used = false, replaced = false;
    std::array<Time, 32> until{};  // by warp
  };
  static constexpr size_t kFlags = 8192, kCovers = 4096;
  Flag& flag(uint64_t address) { return flags_[address / 4 % kFlags]; }
  std::vector<Flag> flags_;
  std::vector<Cover> covers_;
  bool any_ = false;
};

}  // namespace simt
