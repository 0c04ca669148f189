// Memory that the host may touch, closed to it while work that it has not
// waited for is at it: who touches it then is too early, and is told so.
//
// Only pages of which every byte is in use are closed. So a program that waits
// never meets a closed page, nor does a system call on its behalf. The executor
// has another way to the same memory (allocations.h).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace simt {

class ClosedPages {
 public:
  using Owner = std::shared_ptr<const void>;  // the work that is at them

  // To all that the host does there, or to its writes alone. Whole pages.
  void close(uint64_t begin, uint64_t end, bool to_reads, const Owner& owner);
  // Opens what belongs to these.
  void open(const std::function<bool(const void* owner)>& is_done);
  // What is there, whoever it belongs to: the memory will be freed.
  void open(uint64_t begin, uint64_t end);

  // Sees to it that a handler of signals will ask stopped().
  void (*watch)() = nullptr;
  // In a handler of signals: the host was stopped at an address. Opens what
  // stopped it, and remembers that. False: nothing of ours did.
  bool stopped(uint64_t address, bool by_write);

  struct Early {
    Owner owner;
    uint64_t address = 0;
    bool writes = false;
  };
  std::vector<Early> take_early();

 private:
  struct Closed {
    uint64_t begin, end;
    bool to_reads;
    Owner owner;
  };
  static constexpr size_t kMost = 1000;  // A process has 65,530 mappings.
  static constexpr size_t kMostEarly = 20;

  void open_if(const std::function<bool(const Closed&)>& may);
  void protect(const Closed& pages) const;
  void open_again(uint64_t begin, uint64_t end) const;
  void remember(const Early& early);

  std::mutex mutex_;
  std::vector<Closed> closed_;
  Early early_[kMostEarly];  // A handler must not allocate.
  size_t early_count_ = 0;
};

// The ones of this process; never destroyed.
ClosedPages& closed_pages();

}  // namespace simt
