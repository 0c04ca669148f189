// Which bytes an access touches.
#pragma once
#include <algorithm>
#include <cstdint>

#include "common/simt/core/access.h"

namespace simt {

struct Bytes {
  uint64_t begin, end;
  bool meets(const Bytes& other) const {
    return begin < other.end && other.begin < end;
  }
};
inline Bytes bytes_of(const Access& a, int lane) {
  return {a.address[lane], a.address[lane] + a.bytes};
}
// From the first of all lanes to the last.
inline Bytes hull_of(const Access& a) {
  Bytes hull{~0ull, 0};
  for (uint32_t rest = a.mask; rest; rest &= rest - 1) {
    const Bytes one = bytes_of(a, first_lane(rest));
    hull = {std::min(hull.begin, one.begin), std::max(hull.end, one.end)};
  }
  return hull;
}

}  // namespace simt
