// Launches that would do again what one before has done: benchmarks repeat
// theirs hundreds of times. Such a launch is reported like that one and not
// run.
//
// It would read the same and write the same. That is certain if neither the
// bytes that were read then nor those that were written have changed since. If
// they may have, and the launch has come more than once, what it reads is
// compared with a digest of what it read then, and what it wrote is written
// again. All this is known of launches that noted where they load and where
// they store, and touched device memory alone.
#pragma once
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <vector>

#include "common/simt/core/grid.h"
#include "common/simt/memory/touched_bytes.h"
#include "common/simt/memory/undo.h"
#include "common/simt/observe/counters.h"
#include "common/simt/observe/footprint.h"
#include "common/simt/observe/handover.h"

namespace simt {

struct Done {
  const Kernel* kernel = nullptr;
  LaunchShape shape;
  std::vector<uint8_t> parameters;
  TouchedBytes loaded, stored;
  std::unique_ptr<const Counters> counters;  // null: none were kept
  Footprint footprint;  // to be compared with other streams' work
  Handover handover;
  bool is_compared = false;
};

class Repeats {
 public:
  // The launch that this one repeats, whose results are in memory now; null: it
  // has to be run.
  const Done* find(const Grid& grid);
  // Whether it is among the last of those that this was asked about, and has
  // not read something else too often.
  bool may_come_again(const Grid& grid);
  // A launch that has just been done, and what it overwrote. Its values are
  // kept if it comes again.
  void add(Done done, const Undo& undo, bool comes_again);
  // Something has been done to device memory, and nobody knows what.
  void forget_what_is_there();

 private:
  struct Known {
    Done done;
    bool is_there = false;  // all that it read, and all that it wrote
    int misses = 0;         // how often it came and read something else
    // Of a launch that has come before:
    bool has_values = false;
    uint64_t version = 0;        // of the allocations
    uint64_t read = 0;           // a digest of what it read
    std::vector<uint8_t> wrote;  // in the order of done.stored
  };

  std::list<Known>::iterator recall(const Grid& grid);
  void look_for_changes();
  void learn_values(Known& known, const Undo& undo);
  bool would_read_the_same(const Known& known) const;
  void write_again(Known& known);
  void forget_what_meets(const Done& done);
  size_t bytes_kept() const;

  std::list<Known> all_;   // the newest first
  std::deque<Done> seen_;  // which launches, and nothing else of them
  uint64_t changes_ = 0;
};

}  // namespace simt
