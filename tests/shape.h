// The sizes of matrices, for contracts that take rows and columns.
#pragma once

#include "tests/every_contract.h"

namespace contract {

struct Shape {
  int64_t rows, columns;

  int64_t elements() const { return rows * columns; }
};

inline std::string text(const Shape& shape) {
  return std::to_string(shape.rows) + " rows of " +
         std::to_string(shape.columns);
}

// Any of these numbers of rows with any of these of columns.
inline std::vector<Shape> every_shape(const std::vector<int64_t>& rows,
                                      const std::vector<int64_t>& columns) {
  std::vector<Shape> shapes;
  for (const int64_t r : rows) {
    for (const int64_t c : columns) shapes.push_back({r, c});
  }
  return shapes;
}

// So many elements, or a row less, in rows of a length that nothing divides.
inline Shape about_square(int64_t elements) {
  constexpr int64_t kColumns = 997;
  return {elements / kColumns, kColumns};
}

// In as many rows as columns, or half as many: as the counted calls have it.
inline Shape square(int64_t elements) {
  const int bits = std::bit_width(static_cast<uint64_t>(elements));
  const int64_t rows = int64_t{1} << (bits - 1) / 2;
  return {rows, elements / rows};
}

}  // namespace contract
