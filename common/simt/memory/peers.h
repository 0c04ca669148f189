// Devices side by side: whose kernels may touch whose memory, and how many
// bytes went from each to each.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <vector>

#include "common/simt/core/settings.h"

namespace simt {

// Bytes from one device to another.
struct Traffic {
  int from = 0, to = 0;
  uint64_t loaded = 0;  // by kernels of `to`, atomics' old values among them
  uint64_t stored = 0;  // by kernels of `from`, atomics' operands among them
  uint64_t copied = 0;

  bool none() const { return loaded == 0 && stored == 0 && copied == 0; }
};

// What came to `all` since `before`.
std::vector<Traffic> difference(std::vector<Traffic> all,
                                const std::vector<Traffic>& before);

class Peers {
 public:
  bool may_access(int device, int peer) const {
    return device == peer || access_[device][peer];
  }
  // False if it is so already.
  bool allow(int device, int peer) {
    return !access_[device][peer].exchange(true);
  }
  bool forbid(int device, int peer) {
    return access_[device][peer].exchange(false);
  }

  // The same of memory of a pool, which its device's own rights say nothing of.
  bool may_access_pool(uint64_t pool, int device) const;
  void allow_pool(uint64_t pool, int device, bool may);

  void note_loaded(int from, int to, uint64_t bytes) {
    between_[from][to].loaded += bytes;
  }
  void note_stored(int from, int to, uint64_t bytes) {
    between_[from][to].stored += bytes;
  }
  void note_copied(int from, int to, uint64_t bytes) {
    if (from != to) between_[from][to].copied += bytes;
  }
  // Of pairs with any, by `from`, then by `to`.
  std::vector<Traffic> traffic() const;

 private:
  struct Bytes {
    std::atomic<uint64_t> loaded{0}, stored{0}, copied{0};
  };
  template <class T>
  using ByPair =
      std::array<std::array<T, settings::kMostDevices>, settings::kMostDevices>;

  ByPair<std::atomic<bool>> access_ = {};
  mutable std::mutex mutex_;
  std::set<std::pair<uint64_t, int>> to_pools_;  // pool and device
  ByPair<Bytes> between_;
};

// The ones of this process; never destroyed.
Peers& peers();

}  // namespace simt
