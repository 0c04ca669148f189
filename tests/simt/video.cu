// Video instructions, as the PTX ISA defines them: one number with parts of
// registers, a second operation or a merge; and two or four side by side.
#include "tests/simt/expect.h"

namespace {

constexpr int kN = 256;

// An instruction's result for 256 triples of operands.
struct Case {
  std::vector<uint32_t> a, b, c, got;
};

std::vector<uint32_t> operands(uint32_t seed) {
  const uint32_t edges[] = {0,          1,          0x7f,       0x80,
                            0xff,       0x7fff,     0x8000,     0xffff,
                            0x7fffffff, 0x80000000, 0xffffffff, 0x80ff7f01};
  std::vector<uint32_t> all(kN);
  for (uint32_t& x : all) {
    seed = seed * 1664525 + 1013904223;
    x = seed >> 28 < 6 ? edges[(seed >> 8) % 12] : seed * 2654435761u;
  }
  return all;
}

template <class Kernel>
Case run(Kernel kernel) {
  Case one{operands(1), operands(2), operands(3), {}};
  const expect::Copy<uint32_t> a(one.a), b(one.b), c(one.c);
  one.got = expect::results<uint32_t>(
      kN, [&](uint32_t* out) { kernel<<<2, kN / 2>>>(a, b, c, out); });
  return one;
}

#define CHECK(NAME, TEXT, ...)                                          \
  __global__ void NAME##_kernel(const uint32_t* as, const uint32_t* bs, \
                                const uint32_t* cs, uint32_t* out) {    \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                \
    uint32_t d;                                                         \
    asm(TEXT : "=r"(d) : "r"(as[i]), "r"(bs[i]), "r"(cs[i]));           \
    out[i] = d;                                                         \
  }                                                                     \
  void check_##NAME() {                                                 \
    const Case one = run(NAME##_kernel);                                \
    expect::each(one.got, [&](int i) {                                  \
      [[maybe_unused]] const uint32_t a = one.a[i], b = one.b[i],       \
                                      c = one.c[i];                     \
      __VA_ARGS__                                                       \
    });                                                                 \
  }

int64_t byte(uint32_t x, int k) { return static_cast<int8_t>(x >> 8 * k); }
uint32_t ubyte(uint32_t x, int k) { return x >> 8 * k & 255; }
int64_t half(uint32_t x, int k) { return static_cast<int16_t>(x >> 16 * k); }
int64_t sign(uint32_t x) { return static_cast<int32_t>(x); }
uint32_t within(int64_t x, int64_t low, int64_t high) {
  return static_cast<uint32_t>(x < low ? low : x > high ? high : x);
}

// ---- One number -------------------------------------------------------------

CHECK(sum_of_parts, "vadd.s32.s32.u32 %0, %1.b1, %2.h1;",
      { return static_cast<uint32_t>(byte(a, 1) + (b >> 16)); })
CHECK(clamped_sum, "vadd.s32.s32.s32.sat %0, %1, %2;",
      { return within(sign(a) + sign(b), INT32_MIN, INT32_MAX); })
CHECK(clamped_difference, "vsub.u32.u32.u32.sat %0, %1, %2;",
      { return a < b ? 0 : a - b; })
CHECK(three_added, "vadd.u32.u32.u32.add %0, %1, %2, %3;",
      { return a + b + c; })
CHECK(absolute_sum, "vabsdiff.u32.u32.u32.add %0, %1.b2, %2.b0, %3;", {
  const int64_t x = int64_t{ubyte(a, 2)} - ubyte(b, 0);
  return static_cast<uint32_t>(x < 0 ? -x : x) + c;
})
CHECK(least_of_three, "vmin.s32.s32.s32.min %0, %1, %2, %3;", {
  const int64_t x = sign(a) < sign(b) ? sign(a) : sign(b);
  return static_cast<uint32_t>(x < sign(c) ? x : sign(c));
})
CHECK(greatest_of_halves, "vmax.s32.s32.s32.max %0, %1.h0, %2.h1, %3;", {
  const int64_t x = half(a, 0) > half(b, 1) ? half(a, 0) : half(b, 1);
  return static_cast<uint32_t>(x > sign(c) ? x : sign(c));
})
CHECK(mixed_least, "vmin.s32.u32.s32 %0, %1, %2;", {
  return static_cast<uint32_t>(int64_t{a} < sign(b) ? int64_t{a} : sign(b));
})
CHECK(merged_byte, "vadd.u32.u32.u32 %0.b2, %1, %2, %3;",
      { return (c & 0xff00ffff) | ((a + b) & 255) << 16; })
CHECK(merged_half, "vsub.s32.s32.s32 %0.h0, %1, %2, %3;",
      { return (c & 0xffff0000) | ((a - b) & 0xffff); })
CHECK(shifted_left, "vshl.u32.u32.u32.clamp %0, %1, %2.b0;", {
  const uint32_t n = ubyte(b, 0);
  return n > 31 ? 0 : a << n;
})
CHECK(shifted_right, "vshr.s32.s32.u32.wrap.add %0, %1, %2, %3;",
      { return static_cast<uint32_t>(sign(a) >> (b & 31)) + c; })
CHECK(far_right, "vshr.s32.s32.u32.clamp %0, %1, %2;",
      { return static_cast<uint32_t>(sign(a) >> (b > 32 ? 32 : b)); })
CHECK(counted, "vset.s32.s32.lt.add %0, %1.b3, %2.b3, %3;",
      { return c + (byte(a, 3) < byte(b, 3)); })
CHECK(compared, "vset.u32.s32.ge %0.h0, %1, %2, %3;",
      { return (c & 0xffff0000) | (int64_t{a} >= sign(b)); })
CHECK(product, "vmad.u32.u32.u32 %0, %1, %2.h1, %3;",
      { return a * (b >> 16) + c; })
CHECK(negative_product, "vmad.s32.s32.s32 %0, -%1, %2, %3;",
      { return c - a * b; })
CHECK(product_less, "vmad.s32.u32.u32 %0, %1.b0, %2.b1, -%3;",
      { return ubyte(a, 0) * ubyte(b, 1) - c; })
CHECK(rounded_product, "vmad.s32.s32.s32.po.shr7 %0, %1.h0, %2.b3, %3;", {
  return static_cast<uint32_t>((half(a, 0) * byte(b, 3) + sign(c) + 1) >> 7);
})
CHECK(clamped_product, "vmad.s32.s32.s32.sat.shr15 %0, %1, %2, %3;", {
  return within((sign(a) * sign(b) + sign(c)) >> 15, INT32_MIN, INT32_MAX);
})

// ---- Two and four side by side ----------------------------------------------

// Of a and b together, as %1.b7654 numbers them.
int64_t element(uint32_t a, uint32_t b, int k) {
  return byte(k < 4 ? a : b, k % 4);
}

template <class F>
uint32_t bytes(F f) {
  uint32_t all = 0;
  for (int k = 0; k < 4; ++k) all |= (f(k) & 255u) << 8 * k;
  return all;
}
template <class F>
uint32_t halves(F f) {
  return (f(0) & 0xffffu) | f(1) << 16;
}

CHECK(four_clamped, "vadd4.s32.s32.s32.sat %0, %1, %2, %3;", {
  return bytes(
      [&](int k) { return within(byte(a, k) + byte(b, k), -128, 127); });
})
CHECK(four_unsigned, "vsub4.u32.u32.u32.sat %0, %1, %2, %3;", {
  return bytes([&](int k) {
    return within(int64_t{ubyte(a, k)} - ubyte(b, k), 0, 255);
  });
})
CHECK(four_means, "vavrg4.u32.u32.u32 %0, %1, %2, %3;", {
  return bytes([&](int k) { return (ubyte(a, k) + ubyte(b, k) + 1) / 2; });
})
CHECK(four_chosen, "vmax4.s32.s32.s32 %0, %1.b7061, %2.b3210, %3;", {
  const int from[] = {1, 6, 0, 7};
  return bytes([&](int k) {
    const int64_t x = element(a, b, from[k]);
    return static_cast<uint32_t>(x > byte(a, k) ? x : byte(a, k));
  });
})
CHECK(some_bytes, "vadd4.u32.u32.u32 %0.b20, %1, %2, %3;", {
  return bytes(
      [&](int k) { return k % 2 ? ubyte(c, k) : ubyte(a, k) + ubyte(b, k); });
})
CHECK(differences, "vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;", {
  uint32_t sum = c;
  for (int k = 0; k < 4; ++k) {
    const int x = static_cast<int>(ubyte(a, k)) - static_cast<int>(ubyte(b, k));
    sum += x < 0 ? -x : x;
  }
  return sum;
})
CHECK(how_many, "vset4.u32.u32.lt.add %0, %1, %2, %3;", {
  uint32_t sum = c;
  for (int k = 0; k < 4; ++k) sum += ubyte(a, k) < ubyte(b, k);
  return sum;
})
CHECK(two_clamped, "vsub2.s32.s32.s32.sat %0, %1, %2, %3;", {
  return halves(
      [&](int k) { return within(half(a, k) - half(b, k), -32768, 32767); });
})
CHECK(two_crossed, "vmin2.s32.s32.s32 %0, %1.h01, %2.h32, %3;", {
  return halves([&](int k) {
    const int64_t x = half(a, 1 - k), y = half(b, k);
    return static_cast<uint32_t>(x < y ? x : y);
  });
})
CHECK(upper_sum, "vadd2.s32.s32.s32.add %0.h1, %1, %2, %3;",
      { return c + static_cast<uint32_t>(half(a, 1) + half(b, 1)); })
CHECK(two_compared, "vset2.s32.s32.ne %0, %1, %2, %3;", {
  return halves([&](int k) { return uint32_t{half(a, k) != half(b, k)}; });
})
CHECK(two_means, "vavrg2.s32.s32.s32 %0, %1, %2, %3;", {
  return halves([&](int k) {
    const int64_t sum = half(a, k) + half(b, k);
    return static_cast<uint32_t>((sum + (sum >= 0)) >> 1);
  });
})

}  // namespace

int main() {
  check_sum_of_parts();
  check_clamped_sum();
  check_clamped_difference();
  check_three_added();
  check_absolute_sum();
  check_least_of_three();
  check_greatest_of_halves();
  check_mixed_least();
  check_merged_byte();
  check_merged_half();
  check_shifted_left();
  check_shifted_right();
  check_far_right();
  check_counted();
  check_compared();
  check_product();
  check_negative_product();
  check_product_less();
  check_rounded_product();
  check_clamped_product();
  check_four_clamped();
  check_four_unsigned();
  check_four_means();
  check_four_chosen();
  check_some_bytes();
  check_differences();
  check_how_many();
  check_two_clamped();
  check_two_crossed();
  check_upper_sum();
  check_two_compared();
  check_two_means();
  return expect::report();
}
