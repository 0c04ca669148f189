// A block that runs: its warps take turns, and meet at barriers.
//
// A block is a machine whose next step depends on its state and on memory. If
// its state comes back while nobody has changed memory, it goes round in a
// circle, and will for ever unless others change memory: that is how a wait is
// told from work.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/simt/core/block.h"
#include "common/simt/machine/warp_run.h"

namespace simt {

struct BlockRun : Block {
  BlockRun(Grid& grid, Observers observers);

  void start(uint64_t number);
  // Before that: it is of a cluster whose blocks are these, by rank.
  void join(const std::vector<BlockRun*>& blocks, uint32_t rank);
  // Whether all blocks of its cluster have ended.
  bool cluster_ended() const;
  // Runs the block until it has ended (true) or others should have a turn.
  // Throws KernelFault when it waits for itself, or for too long.
  bool run();
  // Whether it can only go on once others have changed memory.
  bool stands_still() const { return circles_ && since_ == grid->changes; }
  // Counts time in which it waited asleep.
  void add_seconds(double seconds);
  // Nobody else can go on: it is long after, if somebody here has looked at the
  // clock while that stood. False: it has not helped, or nobody has looked.
  bool pass_time();
  // That it can never go on, because nobody is left to change memory; `unbegun`
  // blocks have no place to begin in.
  [[noreturn]] void livelock(uint64_t unbegun) const;
  // Whether all it does is to wait for other blocks of its cluster.
  bool waits_for_cluster() const { return waits_for_cluster_; }

  // A path of one of its warps has had its turn; `polls`: reading in vain.
  void gave_way(bool polls) {
    turn_over_ = true;
    (polls ? polls_ : loops_) = true;
  }
  // It could have gone on, but other blocks are to do something in between.
  void took_turn() { turn_over_ = true; }

  // Opens a barrier if everybody has come: when somebody came, or exited.
  void check_barrier(uint32_t number);
  void check_barriers();
  void check_warpgroup(uint32_t group);
  // Of lanes that went on from a join, for a collective lacks them.
  [[noreturn]] void lanes_went_elsewhere() const { throw *standstill_; }

  uint32_t awaited = 0;  // a bit for each barrier that somebody came to
  std::vector<std::unique_ptr<WarpRun>> runs;
  // Of all its warps: one that ends leaves its registers in the cache.
  std::vector<std::unique_ptr<Frame>> frames;
  std::vector<Frame*> free_frames;

 private:
  bool stands_still_for_cluster();
  void check_cluster_barrier(uint32_t number);
  void open_cluster_barrier(uint32_t number);
  void end_turn();
  bool circles();
  uint64_t state(bool whole);
  void lap();
  bool open_joins(Path::State state);
  bool open_returns();
  void note_change();
  // That nobody can go on, by the place where the first of those waits.
  Finding finding(Path::State state, const std::string& kind,
                  const std::string& what) const;
  PlacedFault standstill() const;
  PlacedFault cluster_standstill() const;
  void deadlock();
  bool lacks_lanes() const;
  bool any_waits(Path::State state) const;
  LanesByWarp waiting_lanes(uint32_t barrier) const;
  std::string describe_waiting() const;
  std::string describe_count() const;

  bool turn_over_ = false;  // a path has given way in this round
  bool loops_ = false;      // after a long loop
  bool polls_ = false;      // or, at some time in this run(), reading in vain
  uint32_t turns_ = 0;      // rounds with such paths, in this run()
  // The search for a circle, as Brent does it: a state of the past, how many
  // turns ago, after how many it is replaced by a later one.
  bool circles_ = false;
  uint64_t since_ = 0;  // grid->changes when it began
  bool waits_for_cluster_ = false;
  int ages_ = 0;  // that have passed since then
  uint64_t past_ = 0, age_ = 0, oldest_ = 0, quiet_turns_ = 0;
  uint32_t openings_ = 0;  // of joins, for those who go round in circles
  // Processor time since a thread ended.
  double seconds_ = 0, clock_ = 0;
  uint32_t live_then_ = 0;
  std::optional<PlacedFault> standstill_;  // the last one that joins ended
};

}  // namespace simt
