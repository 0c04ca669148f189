// Launches that would do again what one before has done: benchmarks repeat
// theirs hundreds of times. Such a launch is reported like that one and not
// run.
//
// It would read the same and write the same, if neither the bytes that were
// read then nor those that were written have changed since. That is known of
// launches that went over all cores (machine/all_cores.h), for these touch
// device memory alone, and have noted where they load and where they store.
#pragma once
#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "common/simt/core/grid.h"
#include "common/simt/memory/touched_bytes.h"
#include "common/simt/observe/counters.h"
#include "common/simt/observe/footprint.h"

namespace simt {

struct Done {
  const Kernel* kernel = nullptr;
  LaunchShape shape;
  std::vector<uint8_t> parameters;
  TouchedBytes loaded, stored;
  std::unique_ptr<const Counters> counters;  // null: none were kept
  Footprint footprint;  // to be compared with other streams' work
};

class Repeats {
 public:
  // The launch that this one repeats; null: it has to be run.
  const Done* find(const Grid& grid);
  // A launch that has just been done; what it has changed is forgotten.
  void add(Done done);
  // Something has been done to device memory, and nobody knows what.
  void clear() { all_.clear(); }

 private:
  void forget_what_others_changed();

  std::list<Done> all_;  // the newest first
  uint64_t changes_ = 0;
};

}  // namespace simt
