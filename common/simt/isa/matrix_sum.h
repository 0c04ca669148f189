// The sums of products that tensor cores make of floating-point numbers of up
// to 19 bits.
#pragma once
#include <cstdint>

#include "common/simt/isa/fragment.h"

namespace simt {

// The most factors of an element of the result; a matrix has at most 32 rows or
// columns of them. So many columns of the result are computed side by side.
constexpr int kMostFactors = 32;
constexpr int kColumns = 8;

// Numbers as value * 2^(exponent - bits of the mantissa).
struct Factors {
  Factors(Number number, const uint32_t* bits, int count);

  int mantissa_bits;
  bool special = false;  // an infinity or a NaN is among them
  int32_t value[32 * kMostFactors];
  int32_t exponent[32 * kMostFactors];
  float plain[32 * kMostFactors];  // its sign, 0, an infinity, a NaN
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

// Of one column: rounded towards zero, to so many bits, and to nearest.
uint32_t float_of_sum(const Sums& sums, int column, int mantissa_bits = 23);
uint16_t half_of_sum(const Sums& sums, int column);

}  // namespace simt
