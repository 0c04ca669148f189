// The sums of products as an H200's tensor cores make them, on the host: for
// the suites of mma and mma.sp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>

namespace tensor_sums {

struct Format {
  int bits, exponent, mantissa, unused;
};
constexpr Format kHalf{16, 5, 10, 0}, kBfloat{16, 8, 7, 0},
    kTfloat{32, 8, 10, 13}, kFloat{32, 8, 23, 0};

// A finite number as value * 2^(exponent - mantissa).
struct Number {
  int64_t value;
  int exponent;
};
inline Number number(Format f, uint32_t bits) {
  bits >>= f.unused;
  const int biased = bits >> f.mantissa & ((1 << f.exponent) - 1);
  const int64_t fraction = bits & ((1u << f.mantissa) - 1);
  const bool negative = bits >> (f.mantissa + f.exponent) & 1;
  const int64_t value = biased ? fraction | 1ll << f.mantissa : fraction;
  return {negative ? -value : value,
          std::max(biased, 1) - (1 << (f.exponent - 1)) + 1};
}

// What lies below 2^(top - 25) is dropped.
inline int64_t shifted(int64_t value, int scale, int top) {
  const int left = scale - (top - 25);
  const int64_t magnitude = std::llabs(value);
  const int64_t kept = left >= 0    ? magnitude << left
                       : left > -63 ? magnitude >> -left
                                    : 0;
  return value < 0 ? -kept : kept;
}

// Towards zero.
inline uint32_t rounded(int64_t sum, int top) {
  if (sum == 0) return 0;
  const double exact =
      std::ldexp(static_cast<double>(std::llabs(sum)), top - 25);
  float nearest = static_cast<float>(exact);
  if (std::isinf(nearest) && exact < 0x1p128) nearest = 3.4028235e38f;
  if (nearest > exact) nearest = std::nextafter(nearest, 0.f);
  if (nearest == 0) return 0;
  uint32_t bits;
  std::memcpy(&bits, &nearest, sizeof bits);
  return bits | (sum < 0 ? 0x80000000 : 0);
}

// The sum as an H200's tensor core makes it: of all products at once.
inline uint32_t expected_sum(Format f, const uint32_t* a, const uint32_t* b,
                             int k, uint32_t c) {
  const Number addend = number(kFloat, c);
  int top = addend.value ? addend.exponent : -10000;
  for (int n = 0; n < k; ++n) {
    const Number x = number(f, a[n]), y = number(f, b[n * 8]);
    if (x.value && y.value) top = std::max(top, x.exponent + y.exponent);
  }
  int64_t sum = shifted(addend.value, addend.exponent - 23, top);
  for (int n = 0; n < k; ++n) {
    const Number x = number(f, a[n]), y = number(f, b[n * 8]);
    sum += shifted(x.value * y.value, x.exponent + y.exponent - 2 * f.mantissa,
                   top);
  }
  return rounded(sum, top);
}

// Of any sign, with exponents in a range, now and then 0 or subnormal.
inline uint32_t some_number(Format f, std::mt19937& random, int least,
                            int most) {
  const int bias = (1 << (f.exponent - 1)) - 1;
  const int exponent =
      random() % 16 ? least + static_cast<int>(random() % (most - least + 1))
                    : -bias;
  const uint32_t biased = std::clamp(exponent + bias, 0, (1 << f.exponent) - 2);
  const uint32_t fraction = random() & ((1u << f.mantissa) - 1);
  const uint32_t sign = random() % 2;
  return ((sign << f.exponent | biased) << f.mantissa |
          (random() % 16 ? fraction : 0))
         << f.unused;
}

}  // namespace tensor_sums
