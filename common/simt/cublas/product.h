// Products of matrices, for every type and way to lie in memory.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace simt::cublas {

// Multiplies matrices of Real, which is float or double. What is added up is a
// sum of parts, each of kDepth products that were added one to the other,
// fused; so the bits are the same on every machine.
template <class Real>
class Product {
 public:
  // a(i, l) and b(l, j) are the factors' elements, and take(i, j, sum) what
  // becomes of the product's.
  template <class A, class B, class Take>
  static void compute(int64_t m, int64_t n, int64_t k, A a, B b, Take take) {
    const auto left = packed<kRows>(m, k, a);
    const auto right =
        packed<kColumns>(n, k, [&](int64_t j, int64_t l) { return b(l, j); });
    for (int64_t j = 0; j < n; j += kColumns) {
      for (int64_t i = 0; i < m; i += kRows) {
        Tile sum = {};
        for (int64_t l = 0; l < k; l += kDepth)
          add(sum, &left[i * k + l * kRows], &right[j * k + l * kColumns],
              std::min(kDepth, k - l));
        for (int64_t c = 0; c < std::min(kColumns, n - j); ++c)
          for (int64_t r = 0; r < std::min(kRows, m - i); ++r)
            take(i + r, j + c, sum[c][r]);
      }
    }
  }

 private:
  static constexpr int64_t kRows = 128 / sizeof(Real), kColumns = 6,
                           kDepth = 256;
  using Tile = Real[kColumns][kRows];

  // What one tile needs lies together, filled up with zeros.
  template <int64_t kWidth, class Get>
  static std::vector<Real> packed(int64_t width, int64_t depth, Get get) {
    std::vector<Real> all((width + kWidth - 1) / kWidth * kWidth * depth);
    for (int64_t i = 0; i < width; ++i)
      for (int64_t l = 0; l < depth; ++l)
        all[i / kWidth * kWidth * depth + l * kWidth + i % kWidth] = get(i, l);
    return all;
  }

  static void add(Tile& sum, const Real* left, const Real* right,
                  int64_t depth) {
    Tile part = {};
    for (int64_t l = 0; l < depth; ++l, left += kRows, right += kColumns)
#pragma GCC unroll 8
      for (int64_t c = 0; c < kColumns; ++c)
#pragma GCC unroll 1
        for (int64_t r = 0; r < kRows; ++r)
          part[c][r] = std::fma(left[r], right[c], part[c][r]);
    for (int64_t c = 0; c < kColumns; ++c)
      for (int64_t r = 0; r < kRows; ++r) sum[c][r] += part[c][r];
  }
};

}  // namespace simt::cublas
