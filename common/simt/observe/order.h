// What is known to have happened before what: barriers, __syncwarp, and the
// patterns of fence, flag and atomic by which threads hand data over.
//
// Knowledge is kept as times: what a thread did before the time that another
// has for it is ordered before whatever the other does next.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "common/simt/core/block.h"
#include "common/simt/core/warp.h"
#include "common/simt/observe/shadow.h"

namespace simt {

// The last fence of each lane of a warp.
struct Fences {
  std::array<Time, kLanes> at{};
  // What the lane knew then: of the other lanes, and of the other warps.
  std::array<Time, kLanes> of_warp{}, of_block{};
  // Of each other lane, once only some of them had met; else empty.
  std::vector<std::array<Time, kLanes>> of_lanes;
};

// What a flag teaches who reads it: all that was released before these times.
struct Lesson {
  Time all = 0;  // by any block
  Time one = 0;  // by this block
  uint32_t block = 0;

  explicit operator bool() const { return all || one; }
  void add(const Lesson& more);
  Time of(uint32_t other) const {
    return other == block ? std::max(all, one) : all;
  }
  // The part of it that is about one block.
  Lesson within(uint32_t other) const { return {0, of(other), other}; }
  // The part of it that one who knows this much has heard before.
  Lesson known_by(const Lesson& known) const;
};

// What is known of a block's threads, by their numbers.
using Clock = std::vector<Time>;
using Knowledge = std::shared_ptr<const Clock>;  // null: nothing
Knowledge joined(const Knowledge& one, const Knowledge& two);

// How a lane that waits for a flag has found it last; and which flag it has
// waited for before, until when.
struct Look {
  uint64_t flag = 0;
  uint32_t site = 0;
  Time time = 0;  // 0: it does not wait
  uint64_t met = 0;
  Time met_at = 0;  // 0: it never waited
};

struct WarpOrder {
  uint32_t lanes = 0;  // that have a thread
  Time synced = 0;     // when all lanes last met
  // Since then only some have met: known[l][m] is what lane l knows of m.
  bool partly = false;
  std::unique_ptr<std::array<std::array<Time, kLanes>, kLanes>> known;
  bool fenced = false;  // some lane has
  Fences block_fence;   // __threadfence_block, or
  Fences device_fence;  //   __threadfence, which is both
  // What a lane has read in flags; and what it has understood by a fence, or
  // by meeting others.
  bool taught = false;
  std::array<Lesson, kLanes> read, learned;
  std::unique_ptr<std::array<Look, kLanes>> looks;  // null: none

  // What its lanes have heard at barriers in shared memory.
  bool hears = false;
  std::array<Knowledge, kLanes> heard;

  Time known_of(int lane, int other) const {
    return partly ? (*known)[lane][other] : synced;
  }
  Time heard_of(int lane, uint32_t thread) const {
    return hears && heard[lane] ? (*heard[lane])[thread] : 0;
  }
  void hear(uint32_t mask, const Knowledge& news);
  Knowledge all_heard(uint32_t mask) const;
  void forget_heard();
  void start();
  void meet(uint32_t members, Time now);
  void fence(Fences& fences, uint32_t mask, Time met, Time now);
  void teach(int lane, const Lesson& lesson);
  Look& look_of(int lane);
  // Whether a lane has waited for the flag, until after `time`.
  bool has_met(uint64_t flag, Time time) const;
  Lesson lessons(uint32_t mask) const;  // of all of them
  void learn(uint32_t mask, const Lesson& lesson);
};

// What is known of the warps of a cluster, block by block; empty: one block.
using ClusterClock = std::vector<Time>;
void raise(ClusterClock& clock, const ClusterClock& more);

struct BarrierOrder {
  const Instruction* first = nullptr;  // who came first, and by what
  uint32_t first_warp = 0, first_lane = 0;
  bool differs = false;  // another barrier was met at the same time
  // Warps that come now, and that came and waited when it last opened.
  uint32_t coming = 0, came = 0, waited = 0;
  Time opened = 0;
  std::vector<Time> known;  // by warp: what those who came know
  Lesson lesson;            //   and have learned
  Knowledge heard;          //   and have heard
  ClusterClock in_cluster;
};

// The same of a barrier in shared memory, where threads come one by one: of the
// phase that goes on, and of the one that has been completed last.
struct MbarrierOrder {
  Clock arriving;
  Knowledge arrived;
  Lesson lesson, taught;
  ClusterClock telling, told;  // the same of the cluster
};

// When a warp of another block last touched this one's shared memory.
struct Visit {
  Time time = 0;  // 0: never
  Warp* warp = nullptr;
  const Instruction* ins = nullptr;
  int lane = 0;
};

struct BlockOrder;

// What threads of a block have handed out: a fence, and then an atomic or a
// volatile store.
class HandedOut {
 public:
  void clear();
  // By this lane's store; what it has fenced, by one kind of fence.
  void add(const BlockOrder& block, uint32_t warp, int lane,
           Fences WarpOrder::*kind, Time now);
  // The same of what that lane has learned of its block's threads, by flags
  // within the block up to `until`: who reads what it hands out knows that,
  // too.
  void add_learned(const HandedOut& within, Time until, Time now);
  // What another block of the cluster knows of each of this one's warps.
  void add_warps(std::span<const Time> known, Time fenced);
  // Whether what a thread did at `time` was handed out by stores up to `until`.
  bool covers(uint32_t warp, int lane, Time time, Time until) const {
    return all_.covers(time, until) ||
           (!of_.empty() && of_[warp * kLanes + lane].covers(time, until));
  }

 private:
  // All that was done before a time; `since` a store, and before that store
  // less. What was handed out at two stores before that counts as at the first.
  struct Part {
    Time end = 0, since = 0, end_before = 0;
    void raise(Time to, Time now);
    Time end_at(Time until) const { return since <= until ? end : end_before; }
    bool covers(Time time, Time until) const { return time < end_at(until); }
  };
  void add_others(const BlockOrder& block, Fences WarpOrder::*kind, Time now);
  Part all_;              // of all threads
  std::vector<Part> of_;  // of each; or empty
  Time others_met_ = 0;   // others' fences up to this barrier are in it
  Time learned_ = 0;      // and what a lane had learned up to then
};

struct BlockOrder {
  uint32_t number = 0;
  Time met = 0;  // when all its threads last met
  bool fenced = false, fenced_for_device = false;
  Time fenced_for_copies = 0;  // when some thread last was
  // When some thread last fenced the mbarriers that it had set up; and what of
  // that the cluster's barrier has handed over since, however threads arrived.
  Time fenced_inits = 0, known_inits = 0;
  std::vector<WarpOrder> warps;
  std::vector<Time> across;  // [w * warps + v]: what w knows of v; or empty
  HandedOut released;        // within the block
  std::array<BarrierOrder, Block::kBarriers + 2> barriers;
  std::map<uint64_t, MbarrierOrder> mbarriers;  // by address
  // Of a cluster of several blocks; else empty.
  std::vector<BlockOrder*> cluster;  // by rank
  uint32_t rank = 0;
  Time began = 0;
  std::vector<ClusterClock> in_cluster;  // by warp: what it knows
  std::vector<Visit> visits;             // by warp of the cluster

  void start(uint32_t block, Time now);
  void join(const std::vector<BlockOrder*>& blocks, uint32_t its_rank);
  void fence(uint32_t warp, uint32_t mask, bool for_device, Time now);
  // Lanes make a fence: so they learn what they have read in flags of others,
  // or of their own block alone.
  void understand(uint32_t warp, uint32_t mask, bool of_others);
  void meet(Time now);  // at a barrier of all threads
  void come(uint32_t barrier, uint32_t warp, Time now);
  void go(uint32_t barrier, uint32_t warp);
  // The block's barrier opens for the warps that wait there.
  void open(uint32_t barrier, uint32_t waiting, Time now);
  // Might the warp as well have come before the barrier last opened, for
  // others?
  bool is_stranger(uint32_t barrier, uint32_t warp) const;
  // The same by a warp that hands over only what its last fence has covered.
  void come_relaxed(uint32_t barrier, uint32_t warp);
  // The same where lanes met when they came, and not when they go.
  void go_on(uint32_t barrier, uint32_t warp);
  // Lanes arrive at a barrier in shared memory, its phase completes, and lanes
  // have waited for that.
  void hand_over(uint64_t mbarrier, uint32_t warp, uint32_t mask, Time now);
  // The same by a warp of any block of the cluster.
  void tell(uint64_t mbarrier, const BlockOrder& other, uint32_t warp,
            Time now);
  void complete(uint64_t mbarrier);
  void take_over(uint64_t mbarrier, uint32_t warp, uint32_t mask);
  Time known_across(uint32_t warp, uint32_t of) const {
    return across.empty() ? 0 : across[warp * warps.size() + of];
  }
  // What a warp knows of a warp of some block, and whether any of this block's
  // knows so much.
  Time known_in_cluster(uint32_t warp, uint32_t block, uint32_t of) const;
  bool knows_visit(size_t of_cluster) const;
  // Before this time all may use the mbarriers that a block has set up.
  Time inits_of(uint32_t block) const;
  Visit& visit_of(const BlockOrder& other, uint32_t warp) {
    return visits[other.rank * warps.size() + warp];
  }

 private:
  ClusterClock cluster_clock(uint32_t warp, Time now) const;
  void meet_in_cluster();
  // Does the warp know of something that another did at that time or later?
  bool knows(uint32_t warp, uint32_t other, Time since) const;
};

// A release is a fence for the one store that it is part of: afterwards the
// fences of its warp are again what they were.
class PassingFence {
 public:
  PassingFence(BlockOrder& block, uint32_t warp, uint32_t mask, bool for_device,
               Time now);
  ~PassingFence();
  PassingFence(const PassingFence&) = delete;
  PassingFence& operator=(const PassingFence&) = delete;

 private:
  BlockOrder& block_;
  WarpOrder& warp_;
  const bool fenced_, fenced_for_device_, warp_fenced_;
  const Fences block_fence_, device_fence_;
};

}  // namespace simt
