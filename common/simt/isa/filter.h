// What the filter of an H100's textures makes of the texels around a point, bit
// for bit. Found from what one answered: tests/simt/texture_random.cu.
#pragma once
#include <cstdint>

namespace simt {

// The texels around a point, at most eight: bit 0 of their number is which of
// two along x, bit 1 along y, bit 2 along z. Those of two levels are mixed.
constexpr int kCorners = 8, kMixed = 2 * kCorners;

// How much each of eight counts that together count `all`, of 256. `second` is
// how much the second counts along x, y and z.
void weigh_corners(int all, const int (&second)[3], int* weights);

// The mean of floats; `halves`: they are of half precision, and so is the mean.
float filter_floats(const float (&texels)[kMixed], const int (&weights)[kMixed],
                    bool halves);

// The mean of integers of one or two bytes, as a fraction of the largest.
float filter_fractions(const int32_t (&texels)[kMixed],
                       const int (&weights)[kMixed], int bytes, bool is_signed);

// The level of a mipmap, in 256ths, for texels that are so far apart along two
// axes of the screen. A GPU's lengths and logarithms are estimates: 88 of 100
// levels were an H100's, and none was further away than 2.
int level_of_steps(const double (&across)[3], const double (&down)[3]);

}  // namespace simt
