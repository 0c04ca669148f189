// Tensor maps: what a program has encoded of a tensor in global memory and of
// the boxes that bulk copies move of it.
//
// The 128 bytes are opaque, so these are the executor's own. What kernels may
// replace lies there as they say it, so that a store does it: a map may begin
// as nothing but zeros.
#pragma once
#include <cstdint>
#include <iterator>

#include "common/simt/core/ptx.h"

namespace simt {

struct TensorMap {
  static constexpr int kMostDimensions = 5;
  static constexpr uint64_t kMark = 0x70616d20726f736e;  // of what is one

  uint64_t mark = kMark;  // or 0
  uint64_t address = 0;
  // In bytes, from one to the next of each dimension; of the first there is
  // nothing to say.
  uint64_t stride[kMostDimensions] = {};
  uint32_t extent[kMostDimensions] = {};  // in elements; 0 stands for 2^32
  uint32_t box[kMostDimensions] = {};     // so many elements it spans,
  uint8_t step[kMostDimensions] = {};  //   of which every so-many-th is in it
  uint8_t last_dimension = 0;
  uint8_t element = 0;  // one of kTypes
  uint8_t interleave = 0;
  uint8_t swizzle_mode = 0;
  uint8_t fills_nan = false;  // and not 0, where the tensor ends

  // As tensormap.replace numbers them. The executor lacks flushed tf32 and
  // packed numbers.
  static constexpr uint8_t kFlushed = 8, kTf32 = 11;
  static constexpr Type kTypes[] = {{'u', 1}, {'u', 2}, {'u', 4}, {'s', 4},
                                    {'u', 8}, {'s', 8}, {'h', 2}, {'f', 4},
                                    {'f', 4}, {'f', 8}, {'y', 2}, {'f', 4}};
  bool has_type() const { return element < std::size(kTypes); }
  Type type() const { return kTypes[element]; }
  uint8_t element_bytes() const { return type().bytes; }
  bool rounds() const { return element == kTf32; }  // what is loaded, to tf32
  // What else it does with such elements is not known.
  bool only_loads() const { return rounds() || element == kFlushed; }

  // Mere zeros are none: there is no box.
  bool is_one() const { return mark == kMark || (mark == 0 && box[0] != 0); }

  int dimensions() const { return last_dimension + 1; }
  // As TensorBox says it.
  uint8_t swizzle() const {
    return static_cast<uint8_t>((1 << swizzle_mode) - 1);
  }
  uint32_t last(int dimension) const {  // the highest coordinate
    return extent[dimension] - 1;
  }
  uint32_t count(int dimension) const {  // of elements in the box
    return (box[dimension] + step[dimension] - 1) / step[dimension];
  }
  uint32_t row_bytes() const { return count(0) * element_bytes(); }
  // From one row of a box in shared memory to the next: with a swizzle, so many
  // bytes as it mixes, even if the row has fewer.
  uint32_t pitch() const {
    return swizzle() ? (swizzle() + 1) * 16 : row_bytes();
  }
  uint32_t rows() const {
    uint32_t all = 1;
    for (int d = 1; d < dimensions(); ++d) all *= count(d);
    return all;
  }
};
static_assert(sizeof(TensorMap) <= 128);

}  // namespace simt
