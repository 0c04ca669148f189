// The sums of products that tensor cores make of floating-point numbers of up
// to 19 bits.
#pragma once
#include <cstdint>

#include "common/simt/isa/matrix/fragment.h"

namespace simt {

// The most factors of an element of the result; a matrix has at most 32 rows or
// columns of them. So many columns of the result are computed side by side.
constexpr int kMostFactors = 32;
constexpr int kColumns = 8;

// Numbers, and where the first bit of each is; of what is not finite, as of 0.
struct Factors {
  // Looks at `bits` again where one is not finite.
  Factors(Number number, const uint32_t* bits, int count);

  float value[32 * kMostFactors];
  int32_t exponent[32 * kMostFactors];  // of 0: below all others
  int32_t least, most;                  // of those that are not 0
  bool special;                         // an infinity or a NaN is among them
  float plain(int k) const;  // its sign, and 0, 1, an infinity or a NaN

 private:
  const Number number_;
  const uint32_t* const bits_;
};

// Some columns of the result: value * 2^scale, or a `plain` that is not finite.
struct Sums {
  int64_t value[kColumns];
  int32_t scale[kColumns];
  float plain[kColumns];
};

// c[j] + a[0] * b[0][j] + a[1] * b[1][j] + ... for kColumns columns. The
// factors are `count` of A from `row` on, and of B from `column` on and each
// `b_columns` further; the addends are floats.
//
// An H200 shifts all products, which are exact, and the addend to the largest
// exponent among them, drops what lies more than so many bits below it, and
// adds.
constexpr int kKept = 25, kKeptOfEighths = 13;
void add_products(const Factors& a, int row, const Factors& b, int column,
                  int b_columns, int count, const uint32_t* c, Sums& sums,
                  int kept = kKept);

// Of all columns: rounded towards zero, to so many bits. Of one: to nearest.
void floats_of_sums(const Sums& sums, uint32_t* to, int mantissa_bits = 23);
uint16_t half_of_sum(const Sums& sums, int column);

}  // namespace simt
