// A set of bytes, a bit each: which of them have been written.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

namespace simt {

// Over storage that somebody else owns, all zero at first. Host threads may
// insert at the same time.
class ByteSet {
 public:
  ByteSet() = default;
  explicit ByteSet(uint64_t* bits) : bits_(bits) {}

  // Returns how many of them were not there before.
  uint64_t insert(uint64_t begin, uint64_t end) {
    uint64_t fresh = 0;
    each(begin, end, [&](uint64_t& word, uint64_t mask) {
      if ((word & mask) != mask)
        fresh += std::popcount(
            mask & ~__atomic_fetch_or(&word, mask, __ATOMIC_RELAXED));
      return true;
    });
    return fresh;
  }
  // Returns how many of them were there.
  uint64_t erase(uint64_t begin, uint64_t end) {
    uint64_t gone = 0;
    each(begin, end, [&](uint64_t& word, uint64_t mask) {
      gone += std::popcount(mask &
                            __atomic_fetch_and(&word, ~mask, __ATOMIC_RELAXED));
      return true;
    });
    return gone;
  }
  bool contains(uint64_t begin, uint64_t end) const {
    bool all = true;
    each(begin, end, [&](uint64_t& word, uint64_t mask) {
      return all = (word & mask) == mask;
    });
    return all;
  }
  bool contains(uint64_t byte) const {
    return bits_[byte / 64] >> byte % 64 & 1;
  }

 private:
  // f(word, mask) for the words of [begin, end), until it returns false.
  template <class F>
  void each(uint64_t begin, uint64_t end, F f) const {
    while (begin < end) {
      const uint64_t bit = begin % 64;
      const uint64_t count = std::min(64 - bit, end - begin);
      const uint64_t ones = count == 64 ? ~0ull : (1ull << count) - 1;
      if (!f(bits_[begin / 64], ones << bit)) return;
      begin += count;
    }
  }

  uint64_t* bits_ = nullptr;
};

}  // namespace simt
