// The sums of products that tensor cores make of floating-point numbers.
#include "common/simt/isa/matrix_sum.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "common/simt/core/half.h"

namespace simt {
namespace {

constexpr int32_t kNone = -4096;  // the exponent of zero: below all others
constexpr int32_t kOutside = 31;  // a shift that leaves nothing

struct Format {
  int exponent_bits, mantissa_bits;
  int unused = 0;            // bits below the mantissa
  bool has_infinity = true;  // else all bits are ones in what is no number
};
constexpr Format kHalf{5, 10}, kBFloat{8, 7}, kTFloat{8, 10, 13}, kFloat{8, 23},
    kE4M3{4, 3, 0, false}, kE5M2{5, 2};

// Without a branch, so that the compiler makes vectors of it.
template <Format f>
void read(const uint32_t* bits, int count, Factors& out) {
  constexpr int kTop = (1 << f.exponent_bits) - 1, kBias = kTop >> 1;
  constexpr uint32_t kMantissa = (1u << f.mantissa_bits) - 1;
  int32_t any_special = 0;
  for (int k = 0; k < count; ++k) {
    const uint32_t number = bits[k] >> f.unused;
    const uint32_t mantissa = number & kMantissa;
    const int32_t exponent = number >> f.mantissa_bits & kTop;
    const uint32_t sign = number >> (f.exponent_bits + f.mantissa_bits) << 31;
    const bool special =
        exponent == kTop && (f.has_infinity || mantissa == kMantissa);
    const uint32_t whole = exponent ? mantissa | (kMantissa + 1) : mantissa;
    const bool none = special || whole == 0;
    const auto value = static_cast<int32_t>(none ? 0 : whole);
    const uint32_t plain = special ? (mantissa ? kNaN32 : 0x7f800000u)
                                   : (whole ? 0x3f800000u : 0u);
    out.value[k] = sign ? -value : value;
    out.exponent[k] = none ? kNone : (exponent ? exponent : 1) - kBias;
    out.plain[k] = float_of(sign | plain);
    any_special |= special;
  }
  out.special = any_special;
  out.mantissa_bits = f.mantissa_bits;
}

// Sums `count` products, shifted, to `sum`: so many that it does not overflow.
void add_shifted(const int32_t (*value)[kColumns],
                 const int32_t (*exponent)[kColumns], int count, int up,
                 const int32_t* top, int64_t* sum) {
  int32_t some[kColumns] = {};
  for (int k = 0; k < count; ++k)
    for (int j = 0; j < kColumns; ++j) {
      const int32_t v = value[k][j];
      const int32_t down = std::min(top[j] - exponent[k][j], kOutside);
      const uint32_t magnitude = static_cast<uint32_t>(v < 0 ? -v : v) << up;
      const auto kept = static_cast<int32_t>(magnitude >> down);
      some[j] += v < 0 ? -kept : kept;
    }
  for (int j = 0; j < kColumns; ++j) sum[j] += some[j];
}

int leading_bit(uint64_t value) { return 63 - std::countl_zero(value); }

}  // namespace

Factors::Factors(Number number, const uint32_t* bits, int count) {
  const auto reader = number == Number::kHalf     ? read<kHalf>
                      : number == Number::kBFloat ? read<kBFloat>
                      : number == Number::kTFloat ? read<kTFloat>
                      : number == Number::kE4M3   ? read<kE4M3>
                      : number == Number::kE5M2   ? read<kE5M2>
                                                  : read<kFloat>;
  reader(bits, count, *this);
}

void add_products(const Factors& a, int row, const Factors& b, int column,
                  int b_columns, int count, const uint32_t* c, Sums& sums,
                  int kept) {
  const Factors addends(Number::kFloat, c, kColumns);
  int32_t value[kMostFactors][kColumns], exponent[kMostFactors][kColumns];
  int32_t top[kColumns];
  for (int j = 0; j < kColumns; ++j) top[j] = addends.exponent[j];
  for (int k = 0; k < count; ++k) {
    const int32_t* factors = b.value + column + k * b_columns;
    const int32_t* exponents = b.exponent + column + k * b_columns;
    for (int j = 0; j < kColumns; ++j) {
      value[k][j] = a.value[row + k] * factors[j];
      exponent[k][j] = a.exponent[row + k] + exponents[j];
      top[j] = std::max(top[j], exponent[k][j]);
    }
  }
  for (int j = 0; j < kColumns; ++j) {
    const int32_t v = addends.value[j];
    const int32_t down = std::min(top[j] - addends.exponent[j], kOutside);
    const int32_t magnitude = v < 0 ? -v : v;
    const int32_t shifted =
        (kept < 23 ? magnitude >> (23 - kept) : magnitude << (kept - 23)) >>
        down;
    sums.value[j] = v < 0 ? -shifted : shifted;
    sums.scale[j] = top[j] - kept;
    sums.plain[j] = 0;
  }
  // A product has up to 27 bits then: eight of them fit in 32, with their sign.
  const int up = kept - a.mantissa_bits - b.mantissa_bits;
  for (int k = 0; k < count; k += 8)
    add_shifted(value + k, exponent + k, std::min(8, count - k), up, top,
                sums.value);
  if (!a.special && !b.special && !addends.special) return;
  for (int j = 0; j < kColumns; ++j) {
    sums.plain[j] = addends.plain[j];
    for (int k = 0; k < count; ++k)
      sums.plain[j] += a.plain[row + k] * b.plain[column + k * b_columns + j];
  }
}

uint32_t float_of_sum(const Sums& sums, int column, int mantissa_bits) {
  const float plain = sums.plain[column];
  if (plain != plain) return kNaN32;
  if (std::isinf(plain)) return bits_of(plain);
  const int64_t sum = sums.value[column];
  const uint64_t magnitude = sum < 0 ? -sum : sum;
  if (magnitude == 0) return 0;
  const int scale = sums.scale[column];
  const int exponent = leading_bit(magnitude) + scale;
  const int last = std::max(exponent - 23, -149);  // of a float's bits
  const int least = std::max(exponent - mantissa_bits, -149);  // that is kept
  const int drop = last - scale;
  const uint64_t all = drop > 63  ? 0
                       : drop > 0 ? magnitude >> drop
                                  : magnitude << -drop;
  const uint64_t kept = all & ~0ull << (least - last);
  if (kept == 0) return 0;
  const uint32_t infinity = 0x7f800000;
  const uint32_t bits = exponent > 127 ? infinity
                        : exponent < -126
                            ? static_cast<uint32_t>(kept)
                            : (uint32_t(last + 149) << 23) + uint32_t(kept);
  return bits | (sum < 0 ? 0x80000000u : 0u);
}

uint16_t half_of_sum(const Sums& sums, int column) {
  const float plain = sums.plain[column];
  if (plain != plain) return kNaN16;
  if (std::isinf(plain)) return plain < 0 ? 0xfc00 : 0x7c00;
  const int64_t sum = sums.value[column];
  if (sum == 0) return 0;
  // It has at most 33 bits, and its scale is far from a double's ends.
  const auto biased = static_cast<uint64_t>(sums.scale[column] + 1023);
  const double exact = static_cast<double>(sum) * double_of(biased << 52);
  const uint16_t half = Half::narrow(narrow_to_odd(exact));
  return half & 0x7fff ? half : 0;
}

}  // namespace simt
