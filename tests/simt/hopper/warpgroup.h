// What kernels with wgmma have in common: fences, groups, descriptors, and
// lists of registers for inline assembly.
#pragma once

#include <cstdint>

namespace warpgroup {

inline __device__ void fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
inline __device__ void commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int groups>
__device__ void wait_but() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(groups) : "memory");
}
inline __device__ void fence_for_async() {
  asm volatile("fence.proxy.async;" ::: "memory");
}

enum Swizzle { kNone, k128, k64, k32 };  // As a descriptor calls them.

// Without the address. Distances are in bytes.
inline __host__ __device__ uint64_t descriptor(Swizzle swizzle,
                                               uint32_t leading,
                                               uint32_t stride,
                                               uint32_t base = 0) {
  return uint64_t{leading >> 4} << 16 | uint64_t{stride >> 4} << 32 |
         uint64_t{base} << 49 | static_cast<uint64_t>(swizzle) << 62;
}
inline __host__ __device__ uint64_t at_address(uint64_t descriptor,
                                               uint32_t address) {
  return descriptor | (address & 0x3ffff) >> 4;
}

}  // namespace warpgroup

// f(1) f(2) ... for all registers but the first.
#define TO_10(f, t)                                                       \
  f(t##0) f(t##1) f(t##2) f(t##3) f(t##4) f(t##5) f(t##6) f(t##7) f(t##8) \
      f(t##9)
#define REST_OF_2(f) f(1)
#define REST_OF_4(f) f(1) f(2) f(3)
#define REST_OF_12(f) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11)
#define REST_OF_16(f) REST_OF_12(f) f(12) f(13) f(14) f(15)
#define REST_OF_32(f) \
  REST_OF_16(f) f(16) f(17) f(18) f(19) TO_10(f, 2) f(30) f(31)
#define REST_OF_64(f)                                                     \
  REST_OF_32(f)                                                           \
  f(32) f(33) f(34) f(35) f(36) f(37) f(38) f(39) TO_10(f, 4) TO_10(f, 5) \
      f(60) f(61) f(62) f(63)
#define REST_OF_128(f)                                                    \
  REST_OF_64(f)                                                           \
  f(64) f(65) f(66) f(67) f(68) f(69) TO_10(f, 7) TO_10(f, 8) TO_10(f, 9) \
      TO_10(f, 10) TO_10(f, 11) f(120) f(121) f(122) f(123) f(124) f(125) \
          f(126) f(127)
