// Runs the blocks of a grid, each host thread its share of them.
//
// Blocks begin in the order of their numbers, or backwards. One that waits for
// another stays resident and gets its turn again and again, while more blocks
// begin: as on a GPU, where so many are resident that a block may wait for
// them. Once nobody has anything left to do but to wait, the launch is at an
// end, and says so.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "common/simt/core/finding.h"
#include "common/simt/core/grid.h"
#include "common/simt/machine/repeats.h"
#include "common/simt/observe/checker.h"
#include "common/simt/observe/counters.h"

namespace simt {

class Workers {
 public:
  explicit Workers(Grid& grid);

  // Until every block has ended. Throws what one of them threw.
  void run();

  // The counts of all blocks; null if none were kept.
  const Counters* counters() const { return counters_.get(); }
  std::vector<Finding> findings() const;
  Footprint footprint() const;
  Handover handover() const;
  Done done();  // of a launch that may be taken back

 private:
  friend class Worker;

  void work(size_t me);
  // Whether the launch has ended before it was worth to wake a helper for it.
  bool ends_soon();
  // Clusters that a worker has taken at once.
  struct Share {
    uint64_t next = 0, end = 0;
  };
  // The next one's number, while there are any and nobody has failed.
  std::optional<uint64_t> take(Share& share);
  uint64_t unbegun() const;
  // Worker `me` can only wait for the others, since `changes` of the grid's
  // were counted. Whether all of them can.
  bool all_wait(size_t me, uint64_t changes);

  Grid& grid_;
  const uint32_t cluster_blocks_;
  const bool backwards_;
  const uint64_t share_size_;
  std::atomic<uint64_t> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;  // of all that follows
  std::condition_variable ended_;
  std::vector<uint64_t> waits_since_;
  std::unique_ptr<Counters> counters_;
  std::unique_ptr<Checker> checker_;
  std::exception_ptr error_;
};

}  // namespace simt
