// The intrinsics of half, half2, bfloat16 and bfloat162 as programs use them,
// against float arithmetic on the host, over all 65536 values.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>

#include "tests/simt/expect.h"

namespace {

constexpr int kAll = 65536;

// A 16-bit float, seen through its bits.
template <typename T>
__device__ T from_bits(unsigned short bits) {
  return *reinterpret_cast<const T*>(&bits);
}
template <typename T>
__device__ unsigned short to_bits(T value) {
  return *reinterpret_cast<const unsigned short*>(&value);
}

struct HalfFormat {
  using Single = __half;
  using Pair = __half2;
  static constexpr int exponent = 5, mantissa = 10;
};
struct Bfloat16Format {
  using Single = __nv_bfloat16;
  using Pair = __nv_bfloat162;
  static constexpr int exponent = 8, mantissa = 7;
};

// The value of a 16-bit float, by the book.
template <typename F>
double value_of(uint16_t bits) {
  const int power = bits >> F::mantissa & ((1 << F::exponent) - 1);
  const int fraction = bits & ((1 << F::mantissa) - 1);
  const int bias = (1 << (F::exponent - 1)) - 1;
  const double sign = bits >> 15 ? -1.0 : 1.0;
  if (power == (1 << F::exponent) - 1) {
    return fraction == 0 ? sign * INFINITY : NAN;
  }
  if (power == 0) return sign * std::ldexp(fraction, 1 - bias - F::mantissa);
  return sign *
         std::ldexp(fraction + (1 << F::mantissa), power - bias - F::mantissa);
}

// The nearest 16-bit float to an exact result, ties to even.
template <typename F>
uint16_t round_to(double value) {
  const int bias = (1 << (F::exponent - 1)) - 1;
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return 0x7fff;
  const uint16_t infinity = ((1 << F::exponent) - 1) << F::mantissa;
  const double magnitude = std::fabs(value);
  if (std::isinf(value)) return sign | infinity;
  if (magnitude == 0) return sign;
  int power = std::max(std::ilogb(magnitude), 1 - bias);
  // nearbyint rounds ties to even; a carry moves on into the exponent.
  const double scaled =
      std::nearbyint(std::ldexp(magnitude, F::mantissa - power));
  const int whole = static_cast<int>(scaled);
  const int bits = ((power + bias - 1) << F::mantissa) + whole;
  return sign | std::min<int>(bits, infinity);
}

template <typename F>
bool is_nan(uint16_t bits) {
  return std::isnan(value_of<F>(bits));
}

// a * b + c, rounded to odd: rounding it once more, to 16 bits, is then as if
// it had been exact.
double fused(double a, double b, double c) {
  const double product = a * b;  // Exact: both factors are short.
  const double sum = product + c;
  if (!std::isfinite(sum)) return sum;
  const double c_part = sum - product;
  const double lost = (product - (sum - c_part)) + (c - c_part);
  uint64_t bits;
  std::memcpy(&bits, &sum, sizeof bits);
  if (lost == 0 || bits % 2 == 1) return sum;
  return std::nextafter(sum, lost > 0 ? INFINITY : -INFINITY);
}

// Which of the two PTX calls the smaller: -0 is below 0, NaN is ignored.
double smaller(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? b : a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

enum Operation {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMin,
  kMax,
  kNegate,
  kAbs,
  kFma,
  kFmaRelu,
  kOperations
};

template <typename T>
__device__ T single(int operation, T a, T b, T c) {
  switch (operation) {
    case kAdd:
      return __hadd(a, b);
    case kSub:
      return __hsub(a, b);
    case kMul:
      return __hmul(a, b);
    case kDiv:
      return __hdiv(a, b);
    case kMin:
      return __hmin(a, b);
    case kMax:
      return __hmax(a, b);
    case kNegate:
      return __hneg(a);
    case kAbs:
      return __habs(a);
    case kFma:
      return __hfma(a, b, c);
    default:
      return __hfma_relu(a, b, c);
  }
}

template <typename T>
__device__ T paired(int operation, T a, T b, T c) {
  switch (operation) {
    case kAdd:
      return __hadd2(a, b);
    case kSub:
      return __hsub2(a, b);
    case kMul:
      return __hmul2(a, b);
    case kDiv:
      return __h2div(a, b);
    case kMin:
      return __hmin2(a, b);
    case kMax:
      return __hmax2(a, b);
    case kNegate:
      return __hneg2(a);
    case kAbs:
      return __habs2(a);
    case kFma:
      return __hfma2(a, b, c);
    default:
      return __hfma2_relu(a, b, c);
  }
}

double exact(int operation, double a, double b, double c) {
  switch (operation) {
    case kAdd:
      return a + b;
    case kSub:
      return a - b;
    case kMul:
      return a * b;
    case kDiv:
      return a / b;
    case kMin:
      return smaller(a, b);
    case kMax:
      return -smaller(-a, -b);
    case kNegate:
      return -a;
    case kAbs:
      return std::fabs(a);
    case kFma:
      return fused(a, b, c);
    default: {
      const double result = fused(a, b, c);
      return std::isnan(result) || result > 0 ? result : 0.0;
    }
  }
}

// The lower half of a pair works on i, the upper one on another value, so
// that halves that were swapped show.
__host__ __device__ unsigned short partner(int i) { return i * 40503 + 77; }

template <typename F>
__global__ void operation_kernel(unsigned short* out, int operation,
                                 unsigned short b, unsigned short c) {
#if __CUDA_ARCH__ >= 800
  using T = typename F::Single;
  using Pair = typename F::Pair;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const T one = from_bits<T>(i), second = from_bits<T>(b),
          third = from_bits<T>(c);
  out[i] = to_bits(single(operation, one, second, third));
  const Pair pair = paired(operation, Pair(one, from_bits<T>(partner(i))),
                           Pair(second, second), Pair(third, third));
  out[kAll + 2 * i] = to_bits(pair.x);
  out[kAll + 2 * i + 1] = to_bits(pair.y);
#endif
}

template <typename F>
void check_operations() {
  const uint16_t one = ((1 << (F::exponent - 1)) - 1) << F::mantissa;
  const uint16_t infinity = ((1 << F::exponent) - 1) << F::mantissa;
  const uint16_t seconds[] = {0,
                              0x8000,
                              one,
                              1,
                              0x8003,
                              infinity,
                              uint16_t(one * 3 / 2 + 5),
                              uint16_t(infinity + 1)};
  const uint16_t thirds[] = {uint16_t(one + 3), 0x8001};
  for (int operation = 0; operation < kOperations; ++operation) {
    for (const uint16_t b : seconds) {
      for (const uint16_t c : thirds) {
        if (c != thirds[0] && operation < kFma) continue;
        const auto got =
            expect::results<uint16_t>(3 * kAll, [&](uint16_t* out) {
              operation_kernel<F><<<kAll / 128, 128>>>(out, operation, b, c);
            });
        int wrong = 0;
        for (int k = 0; k < 3 * kAll; ++k) {
          const int i = (k - kAll) / 2;
          const uint16_t a = k < kAll ? k : k % 2 == 0 ? i : partner(i);
          const uint16_t want = round_to<F>(
              exact(operation, value_of<F>(a), value_of<F>(b), value_of<F>(c)));
          const bool same =
              got[k] == want || (is_nan<F>(got[k]) && is_nan<F>(want));
          if (!same && ++wrong <= expect::kShown) {
            std::cout << "operation " << operation << std::hex << ": " << a
                      << ", " << b << ", " << c << " -> " << got[k]
                      << ", expected " << want << std::dec
                      << (k < kAll ? "" : " in a pair") << '\n';
          }
        }
        expect::equal(wrong, 0);
      }
    }
  }
}

// One bit for each way to compare.
template <typename F>
__global__ void compare_kernel(unsigned* out, unsigned short b) {
#if __CUDA_ARCH__ >= 800
  using T = typename F::Single;
  using Pair = typename F::Pair;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const T x = from_bits<T>(i), y = from_bits<T>(b);
  const Pair pair(x, y), other(y, x);
  unsigned bits = __heq(x, y) | __hne(x, y) << 1 | __hlt(x, y) << 2 |
                  __hle(x, y) << 3 | __hgt(x, y) << 4 | __hge(x, y) << 5 |
                  __hequ(x, y) << 6 | __hneu(x, y) << 7 | __hltu(x, y) << 8 |
                  __hleu(x, y) << 9 | __hgtu(x, y) << 10 | __hgeu(x, y) << 11 |
                  __hisnan(x) << 12 | (__hisinf(x) != 0) << 13;
  bits |= __hbeq2(pair, other) << 14 | __hblt2(pair, other) << 15 |
          __hbleu2(pair, other) << 16;
  const Pair lesser = __hlt2(pair, other);
  bits |= (to_bits(lesser.x) != 0) << 17 | (to_bits(lesser.y) != 0) << 18;
  bits |= (__heq2_mask(pair, other) == 0xffffffff) << 19;
  out[i] = bits;
#endif
}

unsigned comparisons(double x, double y) {
  const bool unordered = std::isnan(x) || std::isnan(y);
  unsigned bits = (x == y) | (x < y || x > y) << 1 | (x < y) << 2 |
                  (x <= y) << 3 | (x > y) << 4 | (x >= y) << 5;
  bits |= (unordered ? 0x3fu : bits & 0x3f) << 6;
  bits |= std::isnan(x) << 12 | std::isinf(x) << 13 | (x == y) << 14;
  bits |= (unordered || (x <= y && y <= x)) << 16;
  bits |= (x < y) << 17 | (y < x) << 18 | (x == y) << 19;
  return bits;
}

template <typename F>
void check_comparisons() {
  for (const uint16_t b : {0, 0x8000, 1, 0x3c00, 0xbc01, 0x7f80, 0x7fff}) {
    const auto got = expect::results<unsigned>(kAll, [&](unsigned* out) {
      compare_kernel<F><<<kAll / 128, 128>>>(out, b);
    });
    expect::each(got, [&](int i) {
      return comparisons(value_of<F>(i), value_of<F>(b));
    });
  }
}

// Conversions by the intrinsics' names.
__global__ void half_conversions_kernel(float* floats, int* ints) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const __half x = from_bits<__half>(i);
  floats[i] = __half2float(x);
  int* mine = ints + 8 * i;
  mine[0] = __half2int_rn(x);
  mine[1] = __half2int_rz(x);
  mine[2] = __half2int_rd(x);
  mine[3] = __half2int_ru(x);
  mine[4] = __half2short_rn(x);
  mine[5] = __half2ushort_rz(x);
  mine[6] = to_bits(__float2half_rn(floats[i] * 1.0009f));
  mine[7] = to_bits(__short2half_rn(static_cast<short>(i)));
}

// Out of range sticks to the end of the range; NaN gives 0 for 32 bits and
// for the 16 bits that PTX converts by way of the same rule.
int saturate(double value, double low, double high) {
  if (std::isnan(value)) return 0;
  return static_cast<int>(std::clamp(value, low, high));
}

void check_half_conversions() {
  std::vector<int> ints;
  const auto floats = expect::results<float>(kAll, [&](float* floats) {
    ints = expect::results<int>(8 * kAll, [&](int* ints) {
      half_conversions_kernel<<<kAll / 128, 128>>>(floats, ints);
    });
  });
  int wrong = 0;
  for (int i = 0; i < kAll; ++i) {
    const double x = value_of<HalfFormat>(i);
    wrong += std::isnan(x) ? !std::isnan(floats[i]) : floats[i] != x;
  }
  expect::equal(wrong, 0);
  expect::each(ints, [&](int k) {
    const double x = value_of<HalfFormat>(k / 8);
    if (std::isnan(x) && k % 8 < 7) return ints[k];  // Judged by their bits.
    switch (k % 8) {
      case 0:
        return saturate(std::nearbyint(x), INT32_MIN, INT32_MAX);
      case 1:
        return saturate(std::trunc(x), INT32_MIN, INT32_MAX);
      case 2:
        return saturate(std::floor(x), INT32_MIN, INT32_MAX);
      case 3:
        return saturate(std::ceil(x), INT32_MIN, INT32_MAX);
      case 4:
        return saturate(std::nearbyint(x), -32768, 32767);
      case 5:
        return saturate(std::trunc(x), 0, 65535);
      case 6: {
        const float scaled = static_cast<float>(x) * 1.0009f;
        return static_cast<int>(round_to<HalfFormat>(scaled));
      }
      default:
        return static_cast<int>(
            round_to<HalfFormat>(static_cast<int16_t>(k / 8)));
    }
  });
}

// Elementary functions of half: within two units in the last place.
enum Function {
  kSqrt,
  kRsqrt,
  kRcp,
  kExp,
  kExp2,
  kLog,
  kLog2,
  kSin,
  kCos,
  kFloor,
  kCeil,
  kTrunc,
  kRint,
  kFunctions
};

template <typename T>
__device__ T function(int name, T x) {
  switch (name) {
    case kSqrt:
      return hsqrt(x);
    case kRsqrt:
      return hrsqrt(x);
    case kRcp:
      return hrcp(x);
    case kExp:
      return hexp(x);
    case kExp2:
      return hexp2(x);
    case kLog:
      return hlog(x);
    case kLog2:
      return hlog2(x);
    case kSin:
      return hsin(x);
    case kCos:
      return hcos(x);
    case kFloor:
      return hfloor(x);
    case kCeil:
      return hceil(x);
    case kTrunc:
      return htrunc(x);
    default:
      return hrint(x);
  }
}

double exact_function(int name, double x) {
  switch (name) {
    case kSqrt:
      return std::sqrt(x);
    case kRsqrt:
      return 1 / std::sqrt(x);
    case kRcp:
      return 1 / x;
    case kExp:
      return std::exp(x);
    case kExp2:
      return std::exp2(x);
    case kLog:
      return std::log(x);
    case kLog2:
      return std::log2(x);
    case kSin:
      return std::sin(x);
    case kCos:
      return std::cos(x);
    case kFloor:
      return std::floor(x);
    case kCeil:
      return std::ceil(x);
    case kTrunc:
      return std::trunc(x);
    default:
      return std::nearbyint(x);
  }
}

template <typename F>
__global__ void function_kernel(unsigned short* out, int name) {
#if __CUDA_ARCH__ >= 800
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = to_bits(function(name, from_bits<typename F::Single>(i)));
#endif
}

// The order of 16-bit floats as integers, so that neighbours differ by one.
int position(uint16_t bits) {
  return bits & 0x8000 ? -(bits & 0x7fff) : bits & 0x7fff;
}

template <typename F>
void check_functions() {
  for (int name = 0; name < kFunctions; ++name) {
    const auto got = expect::results<uint16_t>(kAll, [&](uint16_t* out) {
      function_kernel<F><<<kAll / 128, 128>>>(out, name);
    });
    const int bound = name >= kFloor ? 0 : 2;
    int wrong = 0;
    for (int i = 0; i < kAll; ++i) {
      const double x = value_of<F>(i);
      // Far from zero sine and cosine have an absolute bound only.
      if ((name == kSin || name == kCos) && std::fabs(x) > 100) continue;
      const uint16_t want = round_to<F>(exact_function(name, x));
      if (is_nan<F>(got[i]) && is_nan<F>(want)) continue;
      if (!is_nan<F>(got[i]) && !is_nan<F>(want) &&
          std::abs(position(got[i]) - position(want)) <= bound) {
        continue;
      }
      if (++wrong <= expect::kShown) {
        std::cout << "function " << name << std::hex << ": " << i << " -> "
                  << got[i] << ", expected " << want << std::dec << '\n';
      }
    }
    expect::equal(wrong, 0);
  }
}

// Putting pairs together and taking them apart.
__global__ void pairs_kernel(float* out) {
  const __half a = __float2half(1.5f), b = __float2half(-2.25f);
  const __half2 pair = __halves2half2(a, b);
  out[0] = __low2float(pair);
  out[1] = __high2float(pair);
  const float2 both = __half22float2(__lowhigh2highlow(pair));
  out[2] = both.x;
  out[3] = both.y;
  out[4] = __half2float(__low2half(__high2half2(pair)));
  out[5] = __high2float(__lows2half2(pair, __float2half2_rn(7)));
  const __half2 product = pair * __float2half2_rn(2) + pair;
  out[6] = __low2float(product);
  out[7] = __high2float(product);
  out[8] = __half2float(a + b * a - a / b);
  out[9] = a > b && !(a == b) && pair != product;
  __nv_bfloat162 brain = __floats2bfloat162_rn(3.14159f, -0.1f);
  brain = brain + __float2bfloat162_rn(1);
  out[10] = __low2float(brain);
  out[11] = __bfloat162float(brain.y);
}

void check_pairs() {
  const auto got = expect::results<float>(
      12, [](float* out) { pairs_kernel<<<1, 1>>>(out); });
  const auto half = [](double value) {
    return value_of<HalfFormat>(round_to<HalfFormat>(value));
  };
  const auto brain = [](double value) {
    return value_of<Bfloat16Format>(round_to<Bfloat16Format>(value));
  };
  // Compilers may fuse a + b * a: both give -1.875 here, which is exact.
  const double want[] = {1.5,
                         -2.25,
                         -2.25,
                         1.5,
                         -2.25,
                         7,
                         4.5,
                         -6.75,
                         half(-1.875 - half(1.5 / -2.25)),
                         1,
                         brain(brain(3.14159) + 1),
                         brain(brain(-0.1) + 1)};
  expect::each(got, [&](int i) { return want[i]; });
}

// The smallest integers: a value beyond them is the last one on its side.
__global__ void to_bytes_kernel(int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const auto value = from_bits<__nv_bfloat16>(i);
  out[2 * i] = __bfloat162char_rz(value);
  out[2 * i + 1] = __bfloat162uchar_rz(value);
}

void check_bytes() {
  int* device = nullptr;
  std::vector<int> got(2 * kAll);
  expect::ok(cudaMalloc(&device, got.size() * sizeof(int)));
  to_bytes_kernel<<<kAll / 256, 256>>>(device);
  expect::ok(cudaMemcpy(got.data(), device, got.size() * sizeof(int),
                        cudaMemcpyDeviceToHost));
  expect::each(got, [&](int i) {
    const double value = value_of<Bfloat16Format>(i / 2);
    if (std::isnan(value)) return got[i];
    const double low = i % 2 ? 0 : -128, high = i % 2 ? 255 : 127;
    return static_cast<int>(std::clamp(std::trunc(value), low, high));
  });
  expect::ok(cudaFree(device));
}

}  // namespace

int main() {
  int major = 0;
  expect::ok(
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  check_half_conversions();
  check_pairs();
  if (major >= 8) {
    check_operations<HalfFormat>();
    check_operations<Bfloat16Format>();
    check_comparisons<HalfFormat>();
    check_comparisons<Bfloat16Format>();
    check_functions<HalfFormat>();
    check_functions<Bfloat16Format>();
    check_bytes();
  } else {
    std::cout << "minimum, relu and bfloat16 need sm_80: left out\n";
  }
  return expect::report();
}
