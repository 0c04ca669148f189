// Many bytes as one number, to see whether they are what they were.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace simt {

// Many words as one; it differs, in all likelihood, where any of them does. Of
// many at once there are four sums: none waits for another's multiplication.
class Digest {
 public:
  void add(uint64_t word) { add(sums_[0], word); }
  void add(const void* from, size_t bytes) {
    const auto* at = static_cast<const uint8_t*>(from);
    for (; bytes >= sizeof sums_; at += sizeof sums_, bytes -= sizeof sums_) {
      uint64_t words[4];
      std::memcpy(words, at, sizeof words);
      for (int k = 0; k < 4; ++k) add(sums_[k], words[k]);
    }
    for (; bytes; ++at, --bytes) add(*at);
  }
  uint64_t sum() {
    for (int k = 1; k < 4; ++k) add(sums_[k]);
    return sums_[0];
  }

 private:
  static void add(uint64_t& sum, uint64_t word) {
    sum = (sum ^ word) * 0x9e3779b97f4a7c15;
    sum ^= sum >> 32;
  }

  uint64_t sums_[4] = {};
};

}  // namespace simt
