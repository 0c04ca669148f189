// Instructions that are tried with other operands: registers are put back
// afterwards, and what has come out is compared.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "common/simt/core/lanes.h"
#include "common/simt/observe/undefined.h"

namespace simt {

inline size_t register_bytes(int width) {
  return width ? size_t(width) * kLanes : 4;
}

// The bits of a lane in which two such registers differ.
inline uint64_t difference(const uint8_t* x, const uint8_t* y, int width,
                           int lane) {
  if (width == 0) return (x[lane / 8] ^ y[lane / 8]) >> lane % 8 & 1;
  uint64_t differ = 0;
  for (int k = 0; k < width; ++k)
    differ |= uint64_t(x[lane * width + k] ^ y[lane * width + k])
              << 8 * (k % 8);
  return differ;
}

// Registers as they are, to be put back.
class Snapshot {
 public:
  explicit Snapshot(Warp& warp) : warp_(warp) {}
  void add(Place place, int width) {
    const uint8_t* from = lanes<uint8_t>(warp_, place);
    saved_.push_back({place, {from, from + register_bytes(width)}});
  }
  void restore() const {
    for (const auto& [place, bytes] : saved_)
      std::copy(bytes.begin(), bytes.end(), lanes<uint8_t>(warp_, place));
  }

 private:
  Warp& warp_;
  std::vector<std::pair<Place, std::vector<uint8_t>>> saved_;
};

// Which bits of the results of `run` change from one time to the next.
class Changes {
 public:
  Changes(Warp& warp, std::vector<Undefined>& results)
      : warp_(warp), results_(results) {}
  // `origin` of a lane: where such a bit comes from.
  template <class F>
  void note(uint32_t mask, F origin) {
    for (size_t k = 0; k < results_.size(); ++k) {
      Undefined& result = results_[k];
      const uint8_t* now = lanes<uint8_t>(warp_, result.place);
      if (first_.size() == k)
        first_.push_back({now, now + register_bytes(result.width)});
      for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int l = first_lane(rest);
        const uint64_t bits =
            difference(first_[k].data(), now, result.width, l);
        if (bits) result.add(l, bits, origin(l, result, bits));
      }
    }
  }

 private:
  Warp& warp_;
  std::vector<Undefined>& results_;
  std::vector<std::vector<uint8_t>> first_;
};

}  // namespace simt
