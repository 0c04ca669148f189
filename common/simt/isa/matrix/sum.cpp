// The sums of products that tensor cores make of floating-point numbers.
#include "common/simt/isa/matrix/sum.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "common/simt/core/half.h"

namespace simt {
namespace {

constexpr int32_t kNone = -4096;  // the exponent of zero: below all others
constexpr int32_t kFar = 100;     // of an exponent that floats have room beyond

struct Format {
  int exponent_bits, mantissa_bits;
  int unused = 0;            // bits below the mantissa
  bool has_infinity = true;  // else all bits are ones in what is no number

  constexpr uint32_t sign() const {
    return 1u << (exponent_bits + mantissa_bits);
  }
  constexpr uint32_t mantissa() const { return (1u << mantissa_bits) - 1; }
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  // Of a number without its sign.
  constexpr bool is_special(uint32_t size) const {
    return size >= (has_infinity ? sign() - mantissa() - 1 : sign() - 1);
  }
};
constexpr Format kHalf{5, 10}, kBFloat{8, 7}, kTFloat{8, 10, 13}, kFloat{8, 23},
    kE4M3{4, 3, 0, false}, kE5M2{5, 2};

// f<format>() for a number's.
template <class F>
auto with_format(Number number, F f) {
  switch (number) {
    case Number::kHalf:
      return f.template operator()<kHalf>();
    case Number::kBFloat:
      return f.template operator()<kBFloat>();
    case Number::kTFloat:
      return f.template operator()<kTFloat>();
    case Number::kE4M3:
      return f.template operator()<kE4M3>();
    case Number::kE5M2:
      return f.template operator()<kE5M2>();
    default:
      return f.template operator()<kFloat>();
  }
}

float power_of_two(int exponent) {
  return float_of(static_cast<uint32_t>(exponent + 127) << 23);
}

// Without a branch, so that the compiler makes vectors of it.
template <Format f>
void read(const uint32_t* bits, int count, Factors& out) {
  const float unbiased = power_of_two(127 - f.bias());
  int32_t least = 0, most = kNone, any_special = 0;
  for (int k = 0; k < count; ++k) {
    const uint32_t number = bits[k] >> f.unused, size = number & (f.sign() - 1);
    const bool special = f.is_special(size), none = special || size == 0;
    const auto field = static_cast<int32_t>(size >> f.mantissa_bits);
    const int32_t exponent = none ? kNone : std::max(field, 1) - f.bias();
    const uint32_t sign = number / f.sign() << 31;
    const float magnitude =
        float_of(none ? 0 : size << (23 - f.mantissa_bits)) * unbiased;
    out.value[k] = float_of(bits_of(magnitude) | sign);
    out.exponent[k] = exponent;
    least = std::min(least, none ? 0 : exponent);
    most = std::max(most, exponent);
    any_special |= special;
  }
  out.least = least;
  out.most = most;
  out.special = any_special;
}

template <Format f>
float plain_of(uint32_t bits) {
  const uint32_t number = bits >> f.unused, size = number & (f.sign() - 1);
  const uint32_t plain = !f.is_special(size)   ? (size ? bits_of(1.f) : 0)
                         : size & f.mantissa() ? kNaN32
                                               : bits_of(INFINITY);
  return float_of(number / f.sign() << 31 | plain);
}

// Of kColumns columns.
using Floats = float __attribute__((vector_size(4 * kColumns)));
using Doubles = double __attribute__((vector_size(8 * kColumns)));
using Ints = int32_t __attribute__((vector_size(4 * kColumns)));
using Longs = int64_t __attribute__((vector_size(8 * kColumns)));

template <class Vector, class T>
Vector load(const T* from) {
  Vector v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

// Sums what is whole of (addend + products) * scale, where Reals hold them
// exactly and Wholes eight of them.
template <class Reals, class Wholes>
void add_scaled(const float* left, const float* right, int b_columns, int count,
                const float* addend, const Reals& scale, int64_t* sum) {
  const auto added = __builtin_convertvector(load<Floats>(addend), Reals);
  const auto whole = __builtin_convertvector(added * scale, Wholes);
  for (int j = 0; j < kColumns; ++j) sum[j] = whole[j];
  for (int first = 0; first < count; first += 8) {
    Wholes some{};
    for (int k = first; k < std::min(first + 8, count); ++k) {
      const auto factors = load<Floats>(right + k * b_columns);
      const auto products = left[k] * __builtin_convertvector(factors, Reals);
      some += __builtin_convertvector(products * scale, Wholes);
    }
    for (int j = 0; j < kColumns; ++j) sum[j] += some[j];
  }
}

int leading_bit(uint64_t value) { return 63 - std::countl_zero(value); }

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

// Of less than 52 bits: the processor may have no vectors for this.
double double_of_whole(int64_t value) {
  constexpr uint64_t kBits = 0x4338000000000000;  // of 1.5 * 2^52
  return double_of(kBits + static_cast<uint64_t>(value)) - double_of(kBits);
}

}  // namespace

Factors::Factors(Number number, const uint32_t* bits, int count)
    : number_(number), bits_(bits) {
  with_format(number, [&]<Format f>() { read<f>(bits, count, *this); });
}

float Factors::plain(int k) const {
  return with_format(number_,
                     [&]<Format f>() { return plain_of<f>(bits_[k]); });
}

void add_products(const Factors& a, int row, const Factors& b, int column,
                  int b_columns, int count, const uint32_t* c, Sums& sums,
                  int kept) {
  const Factors addends(Number::kFloat, c, kColumns);
  const float *left = a.value + row, *right = b.value + column;
  Ints top = load<Ints>(addends.exponent);
  for (int k = 0; k < count; ++k) {
    const Ints other =
        a.exponent[row + k] + load<Ints>(b.exponent + column + k * b_columns);
    top = top > other ? top : other;
  }
  top = top < kNone / 2 ? 0 : top;  // There is nothing but zeros.
  const Ints scales = top - kept;
  std::memcpy(sums.scale, &scales, sizeof scales);
  std::fill_n(sums.plain, kColumns, 0.f);
  int32_t lowest = 0;
  for (int j = 0; j < kColumns; ++j) lowest = std::min(lowest, top[j]);
  if (lowest >= -kFar && a.least + b.least >= -kFar &&
      a.most + b.most <= kFar) {
    const auto scale = std::bit_cast<Floats>((127 - scales) << 23);
    add_scaled<Floats, Ints>(left, right, b_columns, count, addends.value,
                             scale, sums.value);
  } else {
    Doubles scale;
    for (int j = 0; j < kColumns; ++j)
      scale[j] = std::ldexp(1., -sums.scale[j]);
    add_scaled<Doubles, Longs>(left, right, b_columns, count, addends.value,
                               scale, sums.value);
  }
  if (!a.special && !b.special && !addends.special) return;
  for (int j = 0; j < kColumns; ++j) {
    sums.plain[j] = addends.plain(j);
    for (int k = 0; k < count; ++k)
      sums.plain[j] += a.plain(row + k) * b.plain(column + k * b_columns + j);
  }
}

// By doubles, which hold a sum exactly, unless one is no normal float.
void floats_of_sums(const Sums& sums, uint32_t* to, int mantissa_bits) {
  const uint64_t kept = ~0ull << (52 - mantissa_bits);
  bool all = true;
  for (int j = 0; j < kColumns; ++j) {
    const auto biased = static_cast<uint64_t>(sums.scale[j] + 1023);
    const double sum = double_of_whole(sums.value[j]) * double_of(biased << 52);
    const double cut = double_of(bits_of(sum) & kept), size = std::fabs(cut);
    all &= size == 0 || (size >= 0x1p-126 && size < 0x1p128);
    all &= std::isfinite(sums.plain[j]);
    to[j] = bits_of(static_cast<float>(cut));
  }
  if (all) return;
  for (int j = 0; j < kColumns; ++j)
    to[j] = float_of_sum(sums, j, mantissa_bits);
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
