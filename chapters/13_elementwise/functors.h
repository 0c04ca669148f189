// Functors for the elementwise engine. Halves and bfloat16s are computed with
// as floats, and rounded once.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <limits>
#include <type_traits>

#include "chapters/13_elementwise/elementwise.h"

namespace elementwise {

template <class T>
concept Short = std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>;
template <class T>
concept UpToFloat = Short<T> || std::is_same_v<T, float>;
template <class T>
concept Fraction = UpToFloat<T> || std::is_same_v<T, double>;

// What T is computed with.
template <class T>
using Wide = std::conditional_t<Short<T>, float, T>;

// ---- Arithmetic -------------------------------------------------------------

// A NaN is not <= 0, so it passes; -0 is, and becomes +0.
template <class T>
struct Relu {
  __device__ T operator()(T x) const {
    return Wide<T>(x) <= Wide<T>(0) ? T(Wide<T>(0)) : x;
  }
};

template <class T>
struct Scale {
  Wide<T> factor;
  __device__ T operator()(T x) const { return T(factor * Wide<T>(x)); }
};

// Makes a Scale of a number in the GPU's memory: the host need not know it, nor
// wait for whatever computes it.
template <class T>
struct ScaleBy {
  const Wide<T>* factor;
  __device__ Scale<T> operator()() const { return {*factor}; }
};

template <class T>
struct Add {
  __device__ T operator()(T a, T b) const { return T(Wide<T>(a) + Wide<T>(b)); }
};

template <Fraction T>
struct MultiplyAdd {
  __device__ T operator()(T a, T b, T c) const {
    return T(fma(Wide<T>(a), Wide<T>(b), Wide<T>(c)));
  }
};

// ---- GELU -------------------------------------------------------------------

// y / (1 + exp(-x)). Of a half, the quick instructions are exact enough.
template <UpToFloat T>
__device__ float times_sigmoid(float y, float x) {
  if constexpr (std::is_same_v<T, __half>)
    return __fdividef(y, 1.f + __expf(-x));
  return y / (1.f + expf(-x));
}

// Where every form is as good as 0, and infinity would come to NaN. A NaN is
// not less than that, so it passes.
__device__ inline float from_below(float x, float least) {
  return x < least ? least : x;
}

constexpr float kLinear = 1.5957691f;  // 2 sqrt(2 / pi)
constexpr float kCubic = kLinear * 0.044715f;

// x / 2 (1 + tanh(u)) with 2 u = x (kLinear + kCubic x^2), in a form that takes
// no difference of near equals.
template <UpToFloat T>
__device__ float gelu_tanh(float x) {
  x = from_below(x, -16.f);
  return times_sigmoid<T>(x, x * (kLinear + kCubic * x * x));
}

template <UpToFloat T>
struct GeluTanh {
  __device__ T operator()(T x) const { return T(gelu_tanh<T>(float(x))); }
};
template <>
struct GeluTanh<__half> {
  __device__ __half operator()(__half x) const {
    return __float2half_rn(gelu_tanh<__half>(__half2float(x)));
  }
  __device__ __half2 Apply2(__half2 x) const {
    const float2 v = __half22float2(x);
    return __float22half2_rn({gelu_tanh<__half>(v.x), gelu_tanh<__half>(v.y)});
  }
};

// x times the probability that a number from the normal distribution is less.
template <UpToFloat T>
struct GeluExact {
  __device__ T operator()(T given) const {
    const float x = from_below(float(given), -16.f);
    return T(x * normcdff(x));
  }
};

template <UpToFloat T>
struct GeluQuick {
  __device__ T operator()(T given) const {
    const float x = from_below(float(given), -64.f);
    return T(times_sigmoid<T>(x, 1.702f * x));
  }
};

template <UpToFloat T>
struct GeluMul {
  __device__ T operator()(T x, T y) const {
    return T(gelu_tanh<T>(float(x)) * float(y));
  }
};

// The gradients of gelu(x) y by x and by y, where d is that of the product.
template <UpToFloat T>
struct GeluMulGradient {
  __device__ Two<T, T> operator()(T d, T x, T y) const {
    const float low = from_below(float(x), -16.f);
    const float v = low > 16.f ? 16.f : low;  // fminf would drop a NaN.
    const float sigmoid = times_sigmoid<T>(1.f, v * (kLinear + kCubic * v * v));
    const float slope = kLinear + 3.f * kCubic * v * v;
    const float gelu_slope = sigmoid + v * slope * sigmoid * (1.f - sigmoid);
    return {T(float(d) * float(y) * gelu_slope),
            T(float(d) * gelu_tanh<T>(float(x)))};
  }
};

// ---- Casts ------------------------------------------------------------------

template <class T>
constexpr T kLeast = std::numeric_limits<T>::min();
template <class T>
constexpr T kMost = std::numeric_limits<T>::max();

// Towards zero; what is out of range becomes the nearest that To has, NaN 0.
template <class To, class From>
__device__ To saturated(From x) {
  if (x >= From(kMost<To>)) return kMost<To>;
  if (x < From(kLeast<To>)) return kLeast<To>;
  return x == x ? To(x) : To(0);
}

// A fraction becomes a whole number as above, and anything but 0 true. To a
// fraction it is rounded to nearest. Whole numbers lose their upper bits.
template <class To, class From>
struct Cast {
  __device__ To operator()(From x) const {
    if constexpr (std::is_same_v<To, From>) {
      return x;
    } else if constexpr (Short<From>) {
      return Cast<To, float>{}(float(x));
    } else if constexpr (std::is_same_v<To, bool>) {
      return x != From(0);
    } else if constexpr (std::is_integral_v<To> && Fraction<From>) {
      return saturated<To>(x);
    } else {
      return To(x);
    }
  }
};

// One instruction rounds two floats to halves.
template <>
struct Cast<__half, float> {
  __device__ __half operator()(float x) const { return __float2half_rn(x); }
  __device__ __half2 Apply2(float2 x) const { return __float22half2_rn(x); }
};
template <>
struct Cast<float, __half> {
  __device__ float operator()(__half x) const { return __half2float(x); }
  __device__ float2 Apply2(__half2 x) const { return __half22float2(x); }
};
template <>
struct Cast<__nv_bfloat16, float> {
  __device__ __nv_bfloat16 operator()(float x) const {
    return __float2bfloat16_rn(x);
  }
  __device__ __nv_bfloat162 Apply2(float2 x) const {
    return __float22bfloat162_rn(x);
  }
};
template <>
struct Cast<float, __nv_bfloat16> {
  __device__ float operator()(__nv_bfloat16 x) const {
    return __bfloat162float(x);
  }
  __device__ float2 Apply2(__nv_bfloat162 x) const {
    return __bfloat1622float2(x);
  }
};

}  // namespace elementwise
