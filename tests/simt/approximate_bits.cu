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

// ---- Halves and doubles -----------------------------------------------------

#define HALF(name, op)                          \
  struct name {                                 \
    static __device__ uint16_t of(uint16_t x) { \
      uint16_t y;                               \
      asm(op " %0, %1;" : "=h"(y) : "h"(x));    \
      return y;                                 \
    }                                           \
  }
HALF(Ex2Half, "ex2.approx.f16");
HALF(TanhHalf, "tanh.approx.f16");
HALF(Ex2BFloat, "ex2.approx.ftz.bf16");
HALF(TanhBFloat, "tanh.approx.bf16");

// Of all halves.
template <class Op>
__global__ void halves_kernel(uint32_t* out) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  out[i] = Op::of(static_cast<uint16_t>(i));
}

// Upper words of doubles, of all signs and exponents.
template <bool kRoot>
__global__ void doubles_kernel(uint32_t* out) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  const double x = __hiloint2double(12345 + i * 65521, 77);
  double y;
  if (kRoot)
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  else
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  out[i] = __double2hiint(y) ^ __double2loint(y);
}

void check_all(void (*kernel)(uint32_t*), uint32_t expected) {
  constexpr int kAll = 1 << 16;
  const auto got = expect::results<uint32_t>(
      kAll, [&](uint32_t* out) { kernel<<<kAll / kBlock, kBlock>>>(out); });
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
  check_all(halves_kernel<Ex2Half>, 0x45c10e7a);
  check_all(halves_kernel<TanhHalf>, 0xc1cc247d);
  check_all(halves_kernel<Ex2BFloat>, 0xd4958f8a);
  check_all(halves_kernel<TanhBFloat>, 0x1ddcd9a9);
  check_all(doubles_kernel<false>, 0xcbb4e529);
  check_all(doubles_kernel<true>, 0x87da331b);
  return expect::report();
}
