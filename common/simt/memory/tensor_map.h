// Tensor maps: what a program has encoded of a tensor in global memory and of
// the boxes that bulk copies move of it.
//
// The 128 bytes are opaque, so these are the executor's own. What kernels may
// replace lies there as they say it, so that a store does it.
#pragma once
#include <cstdint>

#include "common/simt/core/ptx.h"

namespace simt {

struct TensorMap {
  static constexpr int kMostDimensions = 5;
  static constexpr uint64_t kMark = 0x70616d20726f736e;  // of what is one

  uint64_t mark = kMark;
  uint64_t address = 0;
  // In bytes, from one to the next of each dimension; of the first there is
  // nothing to say.
  uint64_t stride[kMostDimensions] = {};
  uint32_t extent[kMostDimensions] = {};  // in elements; 0 stands for 2^32
  uint32_t box[kMostDimensions] = {};     // so many elements it spans,
  uint8_t step[kMostDimensions] = {};  //   of which every so-many-th is in it
  uint8_t dimensions = 0;
  char kind = 'u';  // of its elements, as Type says it
  uint8_t element_bytes = 1;
  uint8_t swizzle = 0;      // as TensorBox says it
  bool fills_nan = false;   // and not 0, where the tensor ends
  bool rounds = false;      // to tf32, what is loaded
  bool only_loads = false;  // what else it does with the type is not known

  Type type() const { return {kind, element_bytes}; }
  uint32_t last(int dimension) const {  // the highest coordinate
    return extent[dimension] - 1;
  }
  uint32_t count(int dimension) const {  // of elements in the box
    return (box[dimension] + step[dimension] - 1) / step[dimension];
  }
  uint32_t row_bytes() const { return count(0) * element_bytes; }
  // From one row of a box in shared memory to the next: with a swizzle, so many
  // bytes as it mixes, even if the row has fewer.
  uint32_t pitch() const { return swizzle ? (swizzle + 1) * 16 : row_bytes(); }
  uint32_t rows() const {
    uint32_t all = 1;
    for (int d = 1; d < dimensions; ++d) all *= count(d);
    return all;
  }
};
static_assert(sizeof(TensorMap) <= 128);

}  // namespace simt
