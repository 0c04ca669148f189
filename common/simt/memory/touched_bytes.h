// Which bytes something touched: a few ranges, or many bytes here and there.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

namespace simt {

// Whole pages are kept as ranges; of the others, a bit for each byte.
class TouchedBytes {
 public:
  static constexpr uint64_t kPageBytes = 4096;

  TouchedBytes() = default;
  TouchedBytes(TouchedBytes&&) = default;
  TouchedBytes& operator=(TouchedBytes&&) = default;

  bool empty() const { return hull_begin_ >= hull_end_; }
  void insert(uint64_t begin, uint64_t end);
  void insert(const TouchedBytes& others);
  // Pages that came piece by piece, and are whole now, become ranges.
  void join_pages();
  bool contains(uint64_t begin, uint64_t end) const;

  // The first byte that both have.
  std::optional<uint64_t> first_common(const TouchedBytes& other) const;

  // How much memory it takes, in pages with bits of their own.
  size_t pages() const { return page_count_; }

  // f(begin, end) for parts of it that together are all of it, not in order.
  template <class F>
  void each_range(F f) const {
    for (const auto& [first, last] : whole_)
      f(first * kPageBytes, last * kPageBytes);
    each_page(
        [&](uint64_t page, const Bits& bits) { each_run(page, bits, f); });
  }

 private:
  using Bits = std::array<uint64_t, kPageBytes / 64>;
  static constexpr uint64_t kChunkPages = 256;
  using Chunk = std::array<std::unique_ptr<Bits>, kChunkPages>;

  // f(page, bits) for those that have bits.
  template <class F>
  void each_page(F f) const {
    for (const auto& [number, chunk] : chunks_)
      for (uint64_t k = 0; k < kChunkPages; ++k)
        if (chunk[k]) f(number * kChunkPages + k, *chunk[k]);
  }

  template <class F>
  static void each_run(uint64_t page, const Bits& bits, F f) {
    const auto has = [&](uint64_t k) { return bits[k / 64] >> k % 64 & 1; };
    for (uint64_t k = 0; k < kPageBytes;) {
      const uint64_t begin = k++;
      if (!has(begin)) continue;
      while (k < kPageBytes && has(k)) ++k;
      f(page * kPageBytes + begin, page * kPageBytes + k);
    }
  }
  Bits& bits_of(uint64_t page);
  const Bits* find_bits(uint64_t page) const;
  void insert_bits(uint64_t begin, uint64_t end);
  void insert_whole(uint64_t first, uint64_t last);
  bool is_whole(uint64_t page) const;
  std::optional<uint64_t> common_whole(const TouchedBytes& other) const;

  uint64_t hull_begin_ = ~0ull, hull_end_ = 0;
  std::map<uint64_t, uint64_t> whole_;  // pages [first, last), apart
  std::map<uint64_t, Chunk> chunks_;
  size_t page_count_ = 0;
  uint64_t last_number_ = ~0ull;  // of the chunk that was used last
  Chunk* last_chunk_ = nullptr;
};

}  // namespace simt
