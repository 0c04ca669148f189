// The arithmetic of texture filters.
#include "common/simt/isa/filter.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace simt {
namespace {

constexpr int kAtATime = 4;  // texels that are added

// Of 256ths of 256ths, 256ths.
int rounded(int product) { return (product + 128) >> 8; }

// To so many bits behind the leading one; halves away from zero.
double round_away(double x, int bits) {
  if (!std::isfinite(x)) return x;
  const uint64_t unit = 1ull << (52 - bits);
  return std::bit_cast<double>((std::bit_cast<uint64_t>(x) + unit / 2) &
                               ~(unit - 1));
}

double round_to_half(double x) {
  constexpr double kLeast = 0x1p-14, kUnit = 0x1p-24;  // below: multiples of it
  if (std::fabs(x) < kLeast) return std::round(x / kUnit) * kUnit;
  return round_away(x, 10);
}

// Of four texels. What lies more than so many bits below the largest is
// dropped.
double weighted_sum(const float* texels, const int* weights, int bits) {
  float largest = 0;
  for (int k = 0; k < kAtATime; ++k)
    if (weights[k] != 0) largest = std::max(largest, std::fabs(texels[k]));
  const double unit = largest > 0 && std::isfinite(largest)
                          ? std::ldexp(1., std::ilogb(largest) - bits)
                          : 0;
  double sum = 0;
  for (int k = 0; k < kAtATime; ++k) {
    if (weights[k] == 0) continue;
    const double x = texels[k];
    sum += weights[k] * (unit > 0 ? std::trunc(x / unit) * unit : x);
  }
  return sum;
}

// With nine bits behind the leading one; what is no number is 0.
double cut(double x) {
  if (std::isnan(x)) return 0;
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::trunc(std::ldexp(fraction, 10)), exponent - 10);
}

// Of a step, nearly.
double length(double x, double y, double z) {
  double along[3] = {std::fabs(x), std::fabs(y), std::fabs(z)};
  std::sort(along, along + 3);
  return along[2] + along[1] * (11. / 32) + along[0] / 4;
}

// In 256ths, of the first eight bits behind the leading one.
int logarithm(double x) {
  int exponent = 0;
  const int bits = static_cast<int>(std::frexp(x, &exponent) * 512) - 256;
  const double between = 256 * std::log2(1 + (bits + 0.5) / 256);
  return 256 * (exponent - 1) +
         (bits == 0 ? 0 : std::min(static_cast<int>(between + 0.5), 255));
}

// Along x first, then along y: each weight is split in two, and one part is
// rounded.
void weigh_plane(int all, int along_x, int along_y, int* weights) {
  const int right = rounded(all * along_x), left = all - right;
  weights[0] = rounded(left * (256 - along_y));
  weights[2] = left - weights[0];
  weights[3] = rounded(right * along_y);
  weights[1] = right - weights[3];
}

}  // namespace

// Along z before that.
void weigh_corners(int all, const int (&second)[3], int* weights) {
  const int front = rounded(all * (256 - second[2]));
  weigh_plane(front, second[0], second[1], weights);
  weigh_plane(all - front, second[0], second[1], weights + kCorners / 2);
}

float filter_floats(const float (&texels)[kMixed], const int (&weights)[kMixed],
                    bool halves) {
  double sum = 0;
  for (int k = 0; k < kMixed; k += kAtATime)
    sum += weighted_sum(texels + k, weights + k, halves ? 14 : 27);
  sum /= 256;
  return static_cast<float>(halves ? round_to_half(sum) : round_away(sum, 23));
}

// The mean has 16 bits, whatever the texels have. A signed texel may be a step
// below -1, but no mean is.
float filter_fractions(const int32_t (&texels)[kMixed],
                       const int (&weights)[kMixed], int bytes,
                       bool is_signed) {
  constexpr int64_t kLeast = -32767;
  int64_t sum = 0;
  for (int k = 0; k < kMixed; ++k) sum += int64_t{weights[k]} * texels[k];
  if (bytes == 2)
    sum = (sum + 128) >> 8;
  else if (is_signed)  // 32767/127 of a 256th, nearly
    sum = (129 * sum + 16 * (sum >> 12) + 64) >> 7;
  else  // 65535/255 of a 256th
    sum = (257 * sum + 128) >> 8;
  return is_signed ? static_cast<float>(std::max(sum, kLeast)) / 32767.f
                   : static_cast<float>(sum) / 65535.f;
}

// The longest of the two steps and, a little too short, of their diagonals.
int level_of_steps(const double (&across)[3], const double (&down)[3]) {
  constexpr int kFar = 256 << 10;
  double a[3], b[3];
  std::transform(across, across + 3, a, cut);
  std::transform(down, down + 3, b, cut);
  const double longest =
      std::max({length(a[0], a[1], a[2]), length(b[0], b[1], b[2]),
                length(a[0] + b[0], a[1] + b[1], a[2] + b[2]) * (11. / 16),
                length(a[0] - b[0], a[1] - b[1], a[2] - b[2]) * (11. / 16)});
  if (longest == 0) return -kFar;
  return std::isfinite(longest) ? logarithm(longest) : kFar;
}

}  // namespace simt
