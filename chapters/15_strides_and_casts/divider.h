// Chapter 15: dividing by a number that the host knows, without a division.
#pragma once

#include <cuda_runtime_api.h>

#include <bit>
#include <cstdint>

namespace strided {

// n / d is the upper half of n times some factor, plus n, shifted. The sum has
// to fit into 32 bits: neither n nor d is above INT32_MAX, and d is not 0.
struct Divider {
  uint32_t divisor = 1, factor = 1, shift = 0;

  Divider() = default;
  explicit Divider(uint32_t d) : divisor(d), shift(std::bit_width(d - 1)) {
    const uint64_t above = (uint64_t{1} << shift) - d;  // Up to a power of two.
    factor = static_cast<uint32_t>((above << 32) / d) + 1;
  }
  __host__ __device__ uint32_t divide(uint32_t n) const {
    const uint32_t upper = static_cast<uint64_t>(n) * factor >> 32;
    return (upper + n) >> shift;
  }
};

}  // namespace strided
