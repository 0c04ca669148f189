// What the filter of an H200's textures makes of the texels around a point, bit
// for bit. Found from what one answered: tests/simt/texture_bits.cu.
#pragma once
#include <cstdint>

namespace simt {

// The texels around a point, at most eight: bit 0 of their number is which of
// two along x, bit 1 along y, bit 2 along z.
constexpr int kCorners = 8;

// How much each of them counts, of 256. `second` is how much the second counts
// along x, y and z.
void weigh_corners(const int (&second)[3], int (&weights)[kCorners]);
// The same for four around a point in one plane, which together count `all`.
void weigh_plane(int all, int along_x, int along_y, int* weights);

// The mean of floats; `halves`: they are of half precision, and so is the mean.
float filter_floats(const float (&texels)[kCorners],
                    const int (&weights)[kCorners], bool halves);

// The mean of integers of one or two bytes, as a fraction of the largest.
float filter_fractions(const int32_t (&texels)[kCorners],
                       const int (&weights)[kCorners], int bytes,
                       bool is_signed);

}  // namespace simt
