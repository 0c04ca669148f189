// Work that may run at the same time as other work: what is queued in streams
// between which nothing decides, and what the host does meanwhile.
//
// Each piece of work knows its past: how far other queues have come before it
// begins. runtime/happens_before.cpp knows CUDA's rules about that. Work that
// the host has waited for comes before all that is still to be queued, and is
// forgotten.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/simt/core/finding.h"
#include "common/simt/observe/footprint.h"
#include "common/simt/observe/handover.h"

namespace simt {

// How far one knows each queue: all of its work up to that number.
class Past {
 public:
  bool knows(uint64_t queue, uint64_t number) const {
    const auto found = known_.find(queue);
    return found != known_.end() && found->second >= number;
  }
  void learn(uint64_t queue, uint64_t number) {
    uint64_t& known = known_[queue];
    known = std::max(known, number);
  }
  void join(const Past& other) {
    for (const auto& [queue, number] : other.known_) learn(queue, number);
    behind_host_function |= other.behind_host_function;
  }
  // What the host knows, everybody knows.
  void forget(const Past& host) {
    std::erase_if(known_, [&](const auto& one) {
      return host.knows(one.first, one.second);
    });
    if (known_.empty()) behind_host_function = false;
  }

  bool empty() const { return known_.empty(); }
  bool knows_all_of(const Past& other) const {
    return std::ranges::all_of(other.known_, [&](const auto& one) {
      return knows(one.first, one.second);
    });
  }

  // A function of the program's may have waited for what we do not see.
  bool behind_host_function = false;

 private:
  std::map<uint64_t, uint64_t> known_;
};

struct Operation;
using OperationPointer = std::shared_ptr<Operation>;

// Work that may have handed something over to one another, by flags.
struct Talk {
  std::vector<OperationPointer> all;
};

// A kernel, a copy, ...: one piece of work in a queue.
struct Operation : std::enable_shared_from_this<Operation> {
  std::string what;        // "the copy"; a kernel's name
  std::string where;       // "stream 2"
  std::string wait;        // how the host waits for it
  uint64_t queue = 0;      // within its graph, if it has one
  bool continued = false;  // a node behind it has taken its queue over
  uint64_t number = 0;     // in the order of all calls
  Past before;             // what it comes behind
  Past past;               //   and itself
  bool is_kernel = false;
  OperationPointer graph;           // whose node it is
  bool everything = false;          // not only memory of the host counts
  std::atomic<bool> speaks{false};  // to the host, while it runs: see below
  bool in_default_stream = false;
  std::atomic<bool> meets_host{false};  // touches memory of the host's, too
  bool ended = false;
  Footprint footprint;
  size_t pages = 0;                // that this takes
  uint64_t newest_allocation = 0;  // when it ended
  std::shared_ptr<Talk> talk;      // null: with nobody
  // A kernel that may begin before the one in front is done: what its threads
  // do before they wait for that one. Null: it begins behind it.
  OperationPointer early;
  bool is_early = false;   // it is such a part
  OperationPointer front;  // of that kernel; null: it has ended
  Handover handover;
};

// Whether all that a launch touches will be compared with other work.
inline bool is_compared(const Grid& grid) {
  return grid.shape.operation && grid.shape.operation->everything;
}

class Overlaps {
 public:
  using Lock = std::unique_lock<std::recursive_mutex>;
  Lock lock() { return Lock(mutex_); }

  // It has touched this: what it meets is found, and it is remembered.
  std::vector<Finding> end(Operation& operation, Footprint footprint);

  // The host has waited for all of this.
  void learn(const Past& known);
  const Past& host() const { return host_; }

  // Kernels and the host may talk by flags in memory of both: atomics and
  // volatile accesses. Then the host knows what the kernel knows.
  void speak(Operation& operation);

  // As a node of a graph a function of the host's begins: the host knows what
  // is before it there.
  void begin_function(const Operation& node);

  // Memory will be freed.
  void forget(uint64_t begin, uint64_t end);

  // What the host did too early since it was asked last.
  std::vector<Finding> take_early();

  // From here on nobody can say any more what waits for what.
  void give_up();
  bool gave_up() const { return gave_up_; }

 private:
  void end_part(Operation& part, Footprint footprint,
                std::vector<Finding>& findings);
  void compare(Operation& mine, Operation& other,
               std::vector<Finding>& findings);
  void compare_with_all(Operation& mine,
                        const std::deque<OperationPointer>& others,
                        std::vector<Finding>& findings);
  void remember(Operation& operation);
  void forget_oldest();
  void close_pages(Operation& operation);

  std::recursive_mutex mutex_;
  // What the host does not know of, by the queues of their streams.
  std::map<uint64_t, std::deque<OperationPointer>> recent_;
  size_t recent_count_ = 0, recent_pages_ = 0;
  Past host_;
  std::atomic<bool> gave_up_{false};
};

// The ones of this process; never destroyed.
Overlaps& overlaps();

}  // namespace simt
