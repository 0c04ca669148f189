// 8-bit floats: all of them to halves, and all halves and many floats to them,
// against what the toolkit computes on the host.
#include <cuda_fp8.h>

#include "tests/simt/expect.h"

namespace {

// The device's conversions are instructions; the host's are software.
template <__nv_fp8_interpretation_t kind>
__global__ void widen_kernel(uint32_t* out) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  const __half2_raw pair =
      __nv_cvt_fp8x2_to_halfraw2(static_cast<__nv_fp8x2_storage_t>(i), kind);
  out[i] = uint32_t{pair.y} << 16 | pair.x;
}

template <__nv_fp8_interpretation_t kind>
__global__ void halves_kernel(uint16_t* out) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  const __half2_raw pair = {static_cast<unsigned short>(i),
                            static_cast<unsigned short>(i * 40503)};
  out[i] = __nv_cvt_halfraw2_to_fp8x2(pair, __NV_SATFINITE, kind);
}

template <__nv_fp8_interpretation_t kind>
__global__ void floats_kernel(uint16_t* out, const float* x) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] =
      __nv_cvt_float2_to_fp8x2({x[2 * i], x[2 * i + 1]}, __NV_SATFINITE, kind);
}

bool is_nan(uint16_t half) { return (half & 0x7fff) > 0x7c00; }

float float_of(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

// Of NaN there are many, and which one comes is not looked at.
template <__nv_fp8_interpretation_t kind>
void check_widening() {
  const auto got = expect::results<uint32_t>(
      1 << 16, [](uint32_t* out) { widen_kernel<kind><<<256, 256>>>(out); });
  int wrong = 0;
  for (uint32_t i = 0; i < 1 << 16; ++i) {
    const __half2_raw pair =
        __nv_cvt_fp8x2_to_halfraw2(static_cast<__nv_fp8x2_storage_t>(i), kind);
    const auto low = static_cast<uint16_t>(got[i]);
    const auto high = static_cast<uint16_t>(got[i] >> 16);
    wrong += is_nan(pair.x) ? !is_nan(low) : low != pair.x;
    wrong += is_nan(pair.y) ? !is_nan(high) : high != pair.y;
  }
  expect::equal(wrong, 0);
}

// Between all neighbours and at them, and at the ends.
std::vector<float> floats() {
  std::vector<float> x;
  for (uint32_t bits = 0x30000000; bits < 0x50000000; bits += 0x10000)
    for (const uint32_t near : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      x.push_back(float_of((bits + near) | (bits >> 16 & 1) << 31));
  for (const uint32_t bits : {0u, 0x80000000u, 1u, 0x7f800000u, 0xff800000u,
                              0x7fc00000u, 0xffc00001u, 0x7f7fffffu})
    x.push_back(float_of(bits));
  while (x.size() % 512) x.push_back(1);
  return x;
}

template <__nv_fp8_interpretation_t kind>
void check_narrowing() {
  expect::each(
      expect::results<uint16_t>(
          1 << 16,
          [](uint16_t* out) { halves_kernel<kind><<<256, 256>>>(out); }),
      [](int i) {
        const __half2_raw pair = {static_cast<unsigned short>(i),
                                  static_cast<unsigned short>(i * 40503u)};
        return __nv_cvt_halfraw2_to_fp8x2(pair, __NV_SATFINITE, kind);
      });
  const std::vector<float> x = floats();
  const expect::Copy<float> copy(x);
  const int blocks = static_cast<int>(x.size() / 512);
  expect::each(expect::results<uint16_t>(x.size() / 2,
                                         [&](uint16_t* out) {
                                           floats_kernel<kind>
                                               <<<blocks, 256>>>(out, copy);
                                         }),
               [&](int i) {
                 return __nv_cvt_float2_to_fp8x2({x[2 * i], x[2 * i + 1]},
                                                 __NV_SATFINITE, kind);
               });
}

// .relu, which the toolkit's functions do not ask for.
__global__ void relu_kernel(uint32_t* out) {
  uint16_t pair;
  asm("cvt.rn.satfinite.relu.e4m3x2.f32 %0, %1, %2;"
      : "=h"(pair)
      : "f"(-3.f), "f"(2.5f));
  out[0] = pair;
  asm("cvt.rn.satfinite.relu.e5m2x2.f16x2 %0, %1;"
      : "=h"(pair)
      : "r"(0xc0003c00));  // -2, 1
  out[1] = pair;
  asm("cvt.rn.relu.f16x2.e4m3x2 %0, %1;"
      : "=r"(out[2])
      : "h"(static_cast<uint16_t>(0x38b8)));  // 1, -1
}

}  // namespace

int main() {
  check_widening<__NV_E4M3>();
  check_widening<__NV_E5M2>();
  check_narrowing<__NV_E4M3>();
  check_narrowing<__NV_E5M2>();
  const uint32_t expected[] = {0x0042, 0x003c, 0x3c000000};
  expect::each(expect::results<uint32_t>(
                   3, [](uint32_t* out) { relu_kernel<<<1, 1>>>(out); }),
               [&](int i) { return expected[i]; });
  return expect::report();
}
