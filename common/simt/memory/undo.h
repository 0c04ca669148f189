// What a launch overwrites in device memory: kept, so that the launch can be
// taken back and begun anew, as if it had never been.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace simt {

class Undo {
 public:
  static constexpr uint64_t kPageBytes = 4096;

  // The launch will be taken back, whatever else it does.
  void give_up() { given_up_ = true; }
  bool given_up() const { return given_up_ || loads_meet_stores_; }
  // The same, but it may be worth another try if loads are looked at one by
  // one.
  void give_up_for_loads() { loads_meet_stores_ = true; }
  bool given_up_for_loads() const { return loads_meet_stores_ && !given_up_; }

  // One host thread's way to it: knows the pages that it has asked for last.
  class Keeper {
   public:
    explicit Keeper(Undo& undo) : undo_(undo) {}
    // Somebody is about to write these bytes. Nobody has without asking.
    void keep(uint64_t begin, uint64_t end) {
      for (uint64_t page = begin / kPageBytes; page * kPageBytes < end; ++page)
        if (uint64_t& known = recent_[page % recent_.size()]; known != page) {
          undo_.keep(page);
          known = page;
        }
    }

   private:
    Undo& undo_;
    std::array<uint64_t, 64> recent_ = {};  // No memory is at page 0.
  };

  struct Page {
    std::array<uint8_t, kPageBytes> bytes;
    std::array<uint64_t, kPageBytes / 64> written;  // a bit for each byte
  };
  // A page as it was before, where somebody wrote to it; else null.
  const Page* before(uint64_t page) const {
    const auto found = pages_.find(page);
    return found == pages_.end() ? nullptr : found->second.get();
  }

  // What these bytes were before, and whether anybody had written them, when
  // nobody writes any more.
  void restore(uint64_t begin, uint64_t end) const;

 private:
  // More is not worth it: it would be written twice, and taken from others.
  static constexpr size_t kMostPages = (256 << 20) / kPageBytes;

  void keep(uint64_t page);
  static void restore(const Page& page, uint64_t begin, uint64_t end);

  std::atomic<bool> given_up_{false}, loads_meet_stores_{false};
  std::mutex mutex_;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace simt
