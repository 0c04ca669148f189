// Which bytes of device memory somebody has written.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

#include "common/simt/core/byte_set.h"

namespace simt {

// A bit for each byte, and none for the bytes of a page that are all written:
// what is written from end to end costs next to nothing, however large it is.
//
// Host threads may insert at the same time. At worst, where one of them fills a
// page, a byte beside counts as written that is not.
class WrittenBytes {
 public:
  WrittenBytes() = default;
  explicit WrittenBytes(uint64_t bytes);  // None of them is.
  bool has_room() const { return counts_ != nullptr; }

  void insert(uint64_t begin, uint64_t end) {
    each_page(begin, end, [this](uint64_t page, uint64_t from, uint64_t to) {
      if (!full(page)) insert_in(page, from, to);
      return true;
    });
  }
  void erase(uint64_t begin, uint64_t end);
  bool contains(uint64_t begin, uint64_t end) const {
    bool all = true;
    each_page(begin, end, [&](uint64_t page, uint64_t from, uint64_t to) {
      // Asked again, for another thread may have filled it in between.
      return all = full(page) || bits_.contains(from, to) || full(page);
    });
    return all;
  }
  bool contains(uint64_t byte) const { return contains(byte, byte + 1); }
  // The first `least` or more bytes beside each other that nobody has written.
  struct Gap {
    uint64_t begin, end;
  };
  std::optional<Gap> gap(uint64_t begin, uint64_t end, uint64_t least) const;
  // Of the bytes from 64 * word on, a bit each.
  uint64_t bits(uint64_t word) const {
    // In this order: another thread may fill the rest of the page.
    const uint64_t bits = __atomic_load_n(&words_[word], __ATOMIC_ACQUIRE);
    return full(word * 64 / kPageBytes) ? ~0ull : bits;
  }

 private:
  static constexpr uint64_t kPageBytes = 128 << 10;

  // f(page, begin, end) for the pages of [begin, end), until it returns false.
  template <class F>
  static void each_page(uint64_t begin, uint64_t end, F f) {
    while (begin < end) {
      const uint64_t page = begin / kPageBytes;
      const uint64_t to = std::min(end, (page + 1) * kPageBytes);
      if (!f(page, begin, to)) return;
      begin = to;
    }
  }
  bool full(uint64_t page) const {
    return __atomic_load_n(&counts_[page], __ATOMIC_ACQUIRE) >= kPageBytes;
  }
  void insert_in(uint64_t page, uint64_t begin, uint64_t end);
  void erase_in(uint64_t page, uint64_t begin, uint64_t end);
  void drop_bits(uint64_t page);

  uint64_t* words_ = nullptr;
  ByteSet bits_;                // over them; of a full page, they say nothing
  uint32_t* counts_ = nullptr;  // written bytes, by page
};

}  // namespace simt
