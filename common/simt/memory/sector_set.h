// Which sectors of memory something touched.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace simt {

class SectorSet {
 public:
  static constexpr uint64_t kSectorBytes = 32;

  // All that hold some of the bytes.
  void insert(uint64_t begin, uint64_t end) {
    const uint64_t last = (end - 1) / kSectorBytes;
    for (uint64_t s = begin / kSectorBytes; s <= last;) {
      const uint64_t bit = s % 64, count = std::min(64 - bit, last - s + 1);
      page(s / kPageSectors)
          .insert(s % kPageSectors / 64, ~0ull >> (64 - count) << bit);
      s += count;
    }
  }
  void insert(SectorSet&& others);
  bool contains(uint64_t address) const;
  uint64_t count() const;

  // f(begin, end) for parts of it, in bytes, that together are all of it; not
  // in order.
  template <class F>
  void each_range(F f) const {
    for (const auto& [number, page] : pages_)
      page.each_run([&](uint64_t first, uint64_t end) {
        const uint64_t from = number * kPageSectors;
        f((from + first) * kSectorBytes, (from + end) * kSectorBytes);
      });
  }

 private:
  static constexpr uint64_t kPageSectors = 32768;  // 1 MiB
  // A bit for each sector, until there are all.
  struct Page {
    uint32_t count = 0;
    std::unique_ptr<std::array<uint64_t, kPageSectors / 64>> bits;

    void insert(uint64_t word, uint64_t sectors) {
      if (count == kPageSectors) return;
      if (!bits) bits = std::make_unique<decltype(bits)::element_type>();
      uint64_t& known = (*bits)[word];
      count += std::popcount(sectors & ~known);
      known |= sectors;
      if (count == kPageSectors) bits.reset();
    }

    // f(first, end) for sectors one behind the other.
    template <class F>
    void each_run(F f) const {
      if (count == kPageSectors) f(0, kPageSectors);
      if (!bits) return;
      for (uint64_t word = 0; word < bits->size(); ++word)
        for (uint64_t rest = (*bits)[word]; rest;) {
          const int first = std::countr_zero(rest);
          const int length = std::countr_one(rest >> first);
          f(word * 64 + first, word * 64 + first + length);
          rest &= ~(~0ull >> (64 - length) << first);
        }
    }
  };

  Page& page(uint64_t number) {
    Recent& recent = recent_[number % recent_.size()];
    if (recent.number != number) recent = {number, &pages_[number]};
    return *recent.page;
  }

  std::unordered_map<uint64_t, Page> pages_;
  // Those touched last: a kernel goes to and fro between its arrays.
  struct Recent {
    uint64_t number = ~0ull;
    Page* page = nullptr;
  };
  std::array<Recent, 8> recent_;
};

}  // namespace simt
