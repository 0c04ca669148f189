// The bits of approximate instructions, for numbers of all magnitudes: of each
// a hash of what an H100 answered.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/simt/expect.h"

namespace {

constexpr int kNumbers = 1 << 18, kBlock = 256;

// Of all signs and exponents.
std::vector<float> numbers(uint32_t first, uint32_t step) {
  std::vector<float> all(kNumbers);
  uint32_t bits = first;
  for (float& x : all) {
    std::memcpy(&x, &bits, sizeof x);
    bits += step;
  }
  return all;
}

#define UNARY(name, op)                          \
  struct name {                                  \
    static __device__ float of(float x, float) { \
      float y;                                   \
      asm(op " %0, %1;" : "=f"(y) : "f"(x));     \
      return y;                                  \
    }                                            \
  }
#define BINARY(name, op)                                  \
  struct name {                                           \
    static __device__ float of(float x, float by) {       \
      float y;                                            \
      asm(op " %0, %1, %2;" : "=f"(y) : "f"(x), "f"(by)); \
      return y;                                           \
    }                                                     \
  }
UNARY(Ex2, "ex2.approx.f32");
UNARY(Ex2Ftz, "ex2.approx.ftz.f32");
UNARY(Rcp, "rcp.approx.f32");
UNARY(RcpFtz, "rcp.approx.ftz.f32");
UNARY(Rsqrt, "rsqrt.approx.f32");
UNARY(RsqrtFtz, "rsqrt.approx.ftz.f32");
UNARY(Sqrt, "sqrt.approx.f32");
UNARY(SqrtFtz, "sqrt.approx.ftz.f32");
UNARY(Lg2, "lg2.approx.f32");
UNARY(Lg2Ftz, "lg2.approx.ftz.f32");
UNARY(Sin, "sin.approx.f32");
UNARY(SinFtz, "sin.approx.ftz.f32");
UNARY(Tanh, "tanh.approx.f32");
UNARY(Cos, "cos.approx.f32");
UNARY(CosFtz, "cos.approx.ftz.f32");
BINARY(Div, "div.approx.f32");
BINARY(DivFtz, "div.approx.ftz.f32");
BINARY(DivFull, "div.full.f32");
BINARY(DivFullFtz, "div.full.ftz.f32");

template <class Op>
__global__ void apply_kernel(const float* x, const float* by, float* out) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  out[i] = Op::of(x[i], by[i]);
}

template <class Op>
void check(const std::vector<float>& x, uint32_t expected) {
  const expect::Copy<float> from(x), by(numbers(0x3f0df00d, 40503 * 65537u));
  const auto got = expect::results<float>(kNumbers, [&](float* out) {
    apply_kernel<Op><<<kNumbers / kBlock, kBlock>>>(from, by, out);
  });
  expect::equal(expect::digest(got.data(), got.size()), expected);
}

// The last bit of a logarithm just below 1 may be another here.
std::vector<float> not_just_below_1(std::vector<float> all) {
  for (float& x : all)
    if (x > 0.9998f && x < 1) x = 2;
  return all;
}

}  // namespace

int main() {
  const std::vector<float> everywhere = numbers(1, 2654435769u);
  // To which powers, angles and their like are asked for most.
  const std::vector<float> small = numbers(0xbe000000, 0x5f3759);
  check<Ex2>(everywhere, 0x1da85e45);
  check<Ex2Ftz>(everywhere, 0xafbe832a);
  check<Ex2>(small, 0xe39a4219);
  check<Rcp>(everywhere, 0x2a05ed23);
  check<RcpFtz>(everywhere, 0x933bec2b);
  check<Rsqrt>(everywhere, 0xfc97dfa5);
  check<RsqrtFtz>(everywhere, 0x17a52e7e);
  check<Sqrt>(everywhere, 0x1f746c74);
  check<SqrtFtz>(everywhere, 0x750433c5);
  check<Lg2>(not_just_below_1(everywhere), 0x1fa96aea);
  check<Lg2Ftz>(not_just_below_1(everywhere), 0xff0ccde2);
  check<Sin>(everywhere, 0x79ddd3c0);
  check<SinFtz>(everywhere, 0x79ddd3c0);
  check<Sin>(small, 0xfded91dc);
  check<Cos>(everywhere, 0x75d48939);
  check<CosFtz>(everywhere, 0x75d48939);
  check<Lg2>(not_just_below_1(numbers(0x3f780000, 5)), 0xa6e62011);
  check<Tanh>(everywhere, 0xf54220e7);
  check<Tanh>(small, 0xc571d18d);
  check<Div>(everywhere, 0x242115a5);
  check<DivFtz>(everywhere, 0xaef0572e);
  check<DivFull>(everywhere, 0x7456e418);
  check<DivFullFtz>(everywhere, 0xf6d258e6);
  return expect::report();
}
