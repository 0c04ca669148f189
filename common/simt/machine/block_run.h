// A block that runs: its warps take turns, and meet at barriers.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/simt/core/block.h"
#include "common/simt/machine/warp_run.h"

namespace simt {

struct BlockRun : Block {
  BlockRun(Grid& grid, Observers observers);

  enum class End { kFinished, kSpinning };
  void start(uint64_t number);
  // Until the block has ended or does nothing but spin. Throws KernelFault
  // when it can never end.
  End run();
  bool wake();
  bool stuck() const;
  // That nobody can go on, by the place where the first of those waits.
  Finding stuck(Path::State state, const std::string& kind,
                const std::string& what) const;

  // Opens a barrier if everybody has come: when somebody came, or exited.
  void check_barrier(uint32_t number);
  void check_barriers();

  uint32_t awaited = 0;  // a bit for each barrier that somebody came to
  std::vector<std::unique_ptr<WarpRun>> runs;
  // Of all its warps: one that ends leaves its registers in the cache.
  std::vector<std::unique_ptr<Frame>> frames;
  std::vector<Frame*> free_frames;

 private:
  [[noreturn]] void deadlock();
  bool any_waits(Path::State state) const;
  LanesByWarp waiting_lanes(uint32_t barrier) const;
  std::string describe_waiting() const;
};

}  // namespace simt
