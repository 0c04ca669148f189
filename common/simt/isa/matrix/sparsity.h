// Which half of a row of A is stored, and which lanes say so: mma.sp and
// wgmma.mma_async.sp.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>

#include "common/simt/core/error.h"

namespace simt {

struct Sparsity {
  int bits = 0;    // of an element of A
  int stored = 0;  // elements of a row; 0: A is not sparse
  int selector = 0;

  explicit operator bool() const { return stored > 0; }

  // How many elements of a group of a row are stored: two of four, two pairs of
  // 4-bit elements out of four pairs, or one tf32 of two. Four bits say which.
  int in_group() const { return bits == 4 ? 4 : bits == 32 ? 1 : 2; }
  // A lane says it of eight groups: of one row, or four each of two rows that
  // are eight apart. Of a quad, this many lanes say it of the quad's rows.
  int lanes_for_rows() const {
    const int groups = stored / in_group();
    return bits < 16 ? groups / 8 * 2 : groups / 4;
  }
  int telling_lane(int row, int element) const {
    const int group = element / in_group();
    return row % 8 * 4 + selector * lanes_for_rows() +
           (bits < 16 ? row / 8 + group / 8 * 2 : group / 4);
  }
  // The row of B that a stored element of A meets.
  int row_of_b(const uint32_t* metadata, int row, int element) const {
    const int group = element / in_group(), in = element % in_group();
    const int four = bits < 16 ? group % 8 : group % 4 + row / 8 * 4;
    const uint32_t both = metadata[telling_lane(row, element)] >> (four * 4);
    const int first = both & 3, second = both >> 2 & 3;
    const int at = bits == 32  ? first >> 1
                   : bits == 4 ? (in < 2 ? first : second) * 2 + in % 2
                               : (in == 0 ? first : second);
    return group * in_group() * 2 + at;
  }

  void choose(int64_t selected) {
    const int choices = 4 / lanes_for_rows();
    if (selected < 0 || selected >= choices)
      throw Error("the sparsity selector is " + std::to_string(selected) +
                  ", but this form has only " + std::to_string(choices));
    selector = static_cast<int>(selected);
  }
};

// Which row of B each stored element of some rows of A meets. Of a dense A it
// is the element's own number.
class ChosenRows {
 public:
  ChosenRows() = default;
  ChosenRows(const Sparsity& s, const uint32_t* metadata, int rows)
      : stored_(s.stored) {
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < stored_; ++k)
        rows_[i * stored_ + k] =
            static_cast<uint8_t>(s.row_of_b(metadata, i, k));
  }
  int row_of_b(int row, int element) const {
    return stored_ ? rows_[row * stored_ + element] : element;
  }
  // The rows of B, of `columns` each, that a row of A meets; in `out` if they
  // are chosen.
  const uint32_t* met(int row, const uint32_t* b, int columns,
                      uint32_t* out) const {
    if (!stored_) return b;
    for (int k = 0; k < stored_; ++k)
      std::copy_n(b + row_of_b(row, k) * columns, columns, out + k * columns);
    return out;
  }

 private:
  int stored_ = 0;
  uint8_t rows_[16 * 64];
};

}  // namespace simt
