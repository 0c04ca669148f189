// Which half of a row of a sparse A is stored, by the figures of the manual:
// for the suites of mma.sp and wgmma.mma_async.sp.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <vector>

namespace sparsity {

// Of `group` neighbours in a row of k elements half are stored, 4-bit ones by
// pairs. `selectors` groups of lanes may say which.
struct Shape {
  int k, bits, group, selectors;
};

struct Told {
  int row, group;
};
// Of which group of which of 16 rows four bits of a lane's metadata tell; row
// -1 if nobody asks this lane.
inline Told told_by(const Shape& s, int selector, int lane, int four) {
  const int in_quad = lane % 4 - selector * (4 / s.selectors);
  if (in_quad < 0 || in_quad >= 4 / s.selectors) return {-1, 0};
  if (s.bits >= 16) return {lane / 4 + four / 4 * 8, in_quad * 4 + four % 4};
  return {lane / 4 + in_quad % 2 * 8, in_quad / 2 * 8 + four};
}

// Both places of what is stored of a group, as four bits.
inline uint32_t some_places(const Shape& s, std::mt19937& random) {
  if (s.group == 2) return random() % 2 ? 0xe : 0x4;
  constexpr std::array<uint32_t, 6> kOrdered = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
  return kOrdered[random() % kOrdered.size()];
}

// Random metadata of each lane, for 16 rows per warp; and the matrix with what
// is not stored as zeros.
struct Spread {
  std::vector<uint32_t> whole, metadata;
};
inline Spread spread(const Shape& s, int selector, int rows,
                     const std::vector<uint32_t>& stored,
                     std::mt19937& random) {
  const int half = s.group / 2, unit = s.bits == 4 ? 2 : 1;
  Spread to{std::vector<uint32_t>(rows * s.k), std::vector<uint32_t>(rows * 2)};
  for (int thread = 0; thread < rows * 2; ++thread)
    for (int four = 0; four < 8; ++four) {
      const uint32_t both = some_places(s, random);
      to.metadata[thread] |= both << (four * 4);
      auto [row, group] = told_by(s, selector, thread % 32, four);
      if (row < 0) continue;
      row += thread / 32 * 16;
      for (int n = 0; n < half; ++n) {
        const int place = both >> (n / unit * 2) & 3;
        const int column = s.group == 2 ? place / 2 : place * unit + n % unit;
        to.whole[row * s.k + group * s.group + column] =
            stored[row * s.k / 2 + group * half + n];
      }
    }
  return to;
}

}  // namespace sparsity
