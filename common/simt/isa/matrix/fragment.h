// How the elements of a matrix lie in the registers of a warp.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "common/simt/core/warp.h"

namespace simt {

// What an element is. kBits: 32 matrix elements of one bit each, as one.
enum class Number : uint8_t {
  kHalf,
  kBFloat,
  kTFloat,  // tf32: of a float, the first 19 bits
  kE4M3,
  kE5M2,
  kFloat,
  kDouble,
  kInt32,
  kSigned8,
  kUnsigned8,
  kSigned4,
  kUnsigned4,
  kBits
};
int bits_of(Number number);
// The value of an element that is a whole number.
inline int32_t whole(Number number, uint32_t bits) {
  switch (number) {
    case Number::kSigned8:
      return static_cast<int8_t>(bits);
    case Number::kSigned4:
      return static_cast<int32_t>(bits << 28) >> 28;
    default:
      return static_cast<int32_t>(bits);
  }
}

// Where an element is in its matrix: the sum of a step for each bit that is set
// in the number of its lane, and of one for each that is set in its own number
// among those of the lane. So it is in all matrices of PTX.
struct Step {
  uint8_t row = 0, column = 0;
  Step operator+(Step s) const {
    return {static_cast<uint8_t>(row + s.row),
            static_cast<uint8_t>(column + s.column)};
  }
  Step transposed() const { return {column, row}; }
};

class Fragment {
 public:
  Fragment() = default;
  Fragment(Number number, std::array<Step, 5> lane, std::vector<Step> element,
           int rows, int columns);

  Number number = Number::kInt32;
  int rows = 0, columns = 0;
  std::array<Step, 5> lane_steps;
  std::vector<Step> element_steps;

  int bits() const { return bits_of(number); }
  int register_bytes() const { return bits() == 64 ? 8 : 4; }
  int per_register() const { return bits() < 32 ? 32 / bits() : 1; }
  // That it fills; wmma gives some matrices more, with the same once more.
  int registers() const { return (1 << element_steps.size()) / per_register(); }
  Step place(int lane, int element) const;
  Fragment transposed() const;

  // Their elements, row by row, from registers of `warp` and back.
  void unpack(Warp& warp, const Place* registers, uint32_t* out) const;
  void unpack(Warp& warp, const Place* registers, uint64_t* out) const;
  void pack(Warp& warp, const Place* registers, const uint32_t* in) const;
  void pack(Warp& warp, const Place* registers, const uint64_t* in) const;
  // The index of an element there.
  int index(int lane, int element) const {
    return index_[element * kLanes + lane];
  }

 private:
  std::vector<uint16_t> index_;
};

// The matrices of mma and wmma: A of m x k, B of k x n, C and D of m x n.
Fragment fragment_a(Number number, int m, int k);
Fragment fragment_b(Number number, int k, int n);
Fragment fragment_c(Number number, int m, int n);

// Those of mma.m8n8k4 with .f16, which is four products: one below the other
// are A and C, and side by side B.
Fragment quarters_a(bool by_columns);
Fragment quarters_b(bool by_columns);
Fragment quarters_c(Number number);

}  // namespace simt
