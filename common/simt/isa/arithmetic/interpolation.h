// What a GPU's special function units make of a number, bit for bit: they look
// up a piece of the function and add up a parabola, whose square has lost its
// last bits. Without branches, so that the compiler makes vectors of them.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

#include "common/simt/isa/arithmetic/interpolation_tables.h"

namespace simt {

constexpr int kMantissa = 23, kPlaceBits = 17;
constexpr int32_t kOne = 1 << kMantissa;
constexpr int32_t kPlaces = 1 << kPlaceBits;  // of a piece

// What is added before a result is cut off, in 1/kPlaces of its last place.
constexpr int kOfReciprocal = 8094, kOfRoots = 32767, kOfPower = 24458,
              kOfLogarithm = 6700;

// Of a fraction of 15 bits, and as many bits of it. Of the products of two bits
// those are left out that lie behind the last.
inline int32_t square(int32_t fraction) {
  constexpr int kBits = 15;
  int32_t sum = 0;
  for (int i = 1; 2 * i < kBits; ++i) {
    const int32_t after = (1 << (kBits - i)) - (1 << (i - 1));
    const int32_t row =
        (1 << (kBits - 2 * i)) + ((fraction & after) >> (i - 1));
    sum += row & -(fraction >> (kBits - i) & 1);
  }
  return sum;
}

// In units of the last place; a double holds all bits of it. A place has
// kPlaceBits bits.
inline double interpolate(Piece piece, int32_t place, int more) {
  return piece.start * 0.25 + more * (1. / kPlaces) +
         piece.slope * (place * (1. / kPlaces)) +
         piece.curve2 * (square(place >> 2) * 0x1p-16);
}

// From -1022 to 1023.
inline double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<int64_t>(exponent + 1023) << 52);
}

// A positive number's: x = (1 + fraction / kOne) * 2^exponent.
struct Parts {
  int32_t exponent, fraction;
};
inline Parts parts_of(float x) {
  const bool subnormal = x < 0x1p-126f;
  const auto bits = std::bit_cast<int32_t>(subnormal ? x * 0x1p24f : x);
  return {(bits >> kMantissa) - (subnormal ? 127 + 24 : 127),
          bits & (kOne - 1)};
}

// Cut off behind the last place, which is worth 2^exponent.
inline float cut(double value, int exponent) {
  return static_cast<float>(static_cast<int32_t>(value) *
                            power_of_two(exponent));
}

// Cut off behind 24 bits, wherever they begin.
inline float cut(double value) {
  constexpr uint64_t kKept = ~0ull << (52 - kMantissa);
  return static_cast<float>(
      std::bit_cast<double>(std::bit_cast<uint64_t>(value) & kKept));
}

// ---- Units ------------------------------------------------------------------

// Of positive numbers that are finite and not 0: which piece and which place in
// it they ask for, and what becomes of the value there.
struct ReciprocalUnit {
  static constexpr const Piece* kTable = kReciprocal;
  static constexpr int kMore = kOfReciprocal;
  static Parts parts(float x) { return parts_of(x); }
  static int32_t piece(Parts x) { return x.fraction >> (kPlaceBits - 1); }
  static int32_t place(Parts x) { return x.fraction * 2 & (kPlaces - 1); }
  static float result(double value, Parts x) {
    return cut(value, -24 - x.exponent);
  }
};

struct Pieces64 {
  static int32_t piece(Parts x) { return x.fraction >> kPlaceBits; }
  static int32_t place(Parts x) { return x.fraction & (kPlaces - 1); }
};

// Odd exponents have a table of their own.
struct TwoTables : Pieces64 {
  static constexpr int kMore = kOfRoots;
  static Parts parts(float x) { return parts_of(x); }
  static int32_t piece(Parts x) {
    return Pieces64::piece(x) + (x.exponent & 1) * kPieces;
  }
};

// Exact where the number is a power of 4.
struct RootReciprocalUnit : TwoTables {
  static constexpr const Piece* kTable = kRootReciprocal;
  static float result(double value, Parts x) {
    const bool exact = (x.fraction | (x.exponent & 1)) == 0;
    return cut(exact ? 2. * kOne : value, -24 - (x.exponent >> 1));
  }
};

struct RootUnit : TwoTables {
  static constexpr const Piece* kTable = kRoot;
  static float result(double value, Parts x) {
    return cut(value, (x.exponent >> 1) - kMantissa);
  }
};

// Exact for 1. Near it, 37 bits behind the point count; just below it, half of
// a GPU's results are the one beside.
struct LogarithmUnit : Pieces64 {
  static constexpr const Piece* kTable = kLogarithm;
  static constexpr int kMore = kOfLogarithm;
  static Parts parts(float x) { return parts_of(x); }
  static float result(double value, Parts x) {
    const double all = value + x.exponent * 0x1p24;
    const float found = cut(std::trunc(all * 0x1p13) * 0x1p-37);
    return (x.exponent | x.fraction) == 0 ? 0 : found;
  }
};

// Of numbers from -200 to 200. Of a negative one all bits are turned, and only
// to a whole one 1 is added.
struct PowerUnit : Pieces64 {
  static constexpr const Piece* kTable = kPower;
  static constexpr int kMore = kOfPower;
  static Parts parts(float x) {
    const auto size = static_cast<int32_t>(std::fabs(x) * kOne);
    const int32_t whole = (size & (kOne - 1)) == 0;
    const int32_t fixed = x < 0 ? ~size + whole : size;
    return {fixed >> kMantissa, fixed & (kOne - 1)};
  }
  static float result(double value, Parts x) {
    return cut(value, x.exponent - kMantissa);
  }
};

// Of turns, finite and not negative; so many quarters further. In place of an
// exponent is the number of the quarter; every second one goes backwards.
template <int kQuarters>
struct SineUnit : Pieces64 {
  static constexpr const Piece* kTable = kSine;
  static constexpr int kMore = 0;
  static Parts parts(float turns) {
    const double all = (turns - std::floor(double{turns})) * 4;
    const auto fixed = static_cast<int32_t>(all * kOne);
    const int32_t number = (fixed >> kMantissa) + kQuarters;
    const int32_t forth = fixed & (kOne - 1);
    return {number, number & 1 ? kOne - 1 - forth : forth};
  }
  static float result(double value, Parts x) {
    const bool top = (x.exponent & 1) && x.fraction == kOne - 1;
    const float size = top ? 1 : cut(value * 0x1p-24);
    return x.exponent & 2 ? -size : size;
  }
};

// Hyperbolic, of numbers from 2^-8 to 8. Each octave has a power of two of
// pieces, whose places are as fine as its results need.
struct TangentUnit {
  static constexpr const Piece* kTable = kTangent;
  static constexpr int kMore = 0, kFirst = -8;
  static constexpr int32_t kPower[] = {0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3};
  static constexpr int32_t kStart[] = {0, 1, 2, 3, 5, 7, 11, 15, 19, 27, 43};
  static constexpr int32_t kTop[] = {-8, -8, -7, -6, -5, -4,
                                     -3, -2, -1, -1, -1};
  static Parts parts(float x) { return parts_of(x); }
  static int32_t piece(Parts x) {
    const int octave = x.exponent - kFirst;
    return kStart[octave] + (x.fraction >> (kMantissa - kPower[octave]));
  }
  static int32_t place(Parts x) {
    const int unused = kMantissa - kPlaceBits - kPower[x.exponent - kFirst];
    return x.fraction >> unused & (kPlaces - 1);
  }
  static float result(double value, Parts x) {
    return cut(value * power_of_two(kTop[x.exponent - kFirst] - kMantissa));
  }
};

// Step by step for all numbers, so that the compiler makes vectors of each.
template <class Unit, int kCount>
void interpolate_all(const float* x, float* result) {
  int32_t exponent[kCount], fraction[kCount];
  int32_t start[kCount], slope[kCount], curve2[kCount];
  double value[kCount];
  const auto parts = [&](int k) { return Parts{exponent[k], fraction[k]}; };
  for (int k = 0; k < kCount; ++k) {
    const Parts both = Unit::parts(x[k]);
    exponent[k] = both.exponent;
    fraction[k] = both.fraction;
  }
  for (int k = 0; k < kCount; ++k) {
    const Piece& piece = Unit::kTable[Unit::piece(parts(k))];
    start[k] = piece.start;
    slope[k] = piece.slope;
    curve2[k] = piece.curve2;
  }
  for (int k = 0; k < kCount; ++k)
    value[k] = interpolate({start[k], slope[k], curve2[k]},
                           Unit::place(parts(k)), Unit::kMore);
  for (int k = 0; k < kCount; ++k) result[k] = Unit::result(value[k], parts(k));
}

}  // namespace simt
