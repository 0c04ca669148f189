// Chapter 15: element types: how a number of one becomes one of another, and
// how several move at once.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "chapters/15_strides_and_casts/plan.h"

namespace strided {

template <class T>
struct Tag {
  using Element = T;
};

// Calls visit(Tag<T>{}) with the T that `type` names.
template <class Visit>
__host__ __device__ void with_type(Type type, const Visit& visit) {
  switch (type) {
    case Type::kBool:
      return visit(Tag<bool>{});
    case Type::kUInt8:
      return visit(Tag<uint8_t>{});
    case Type::kInt8:
      return visit(Tag<int8_t>{});
    case Type::kInt16:
      return visit(Tag<int16_t>{});
    case Type::kInt32:
      return visit(Tag<int32_t>{});
    case Type::kInt64:
      return visit(Tag<int64_t>{});
    case Type::kHalf:
      return visit(Tag<__half>{});
    case Type::kBFloat16:
      return visit(Tag<__nv_bfloat16>{});
    case Type::kFloat:
      return visit(Tag<float>{});
    case Type::kDouble:
      return visit(Tag<double>{});
  }
}

template <class T>
constexpr Type kTypeOf = [] {
  if constexpr (std::is_same_v<T, bool>) {
    return Type::kBool;
  } else if constexpr (std::is_same_v<T, uint8_t>) {
    return Type::kUInt8;
  } else if constexpr (std::is_same_v<T, int8_t>) {
    return Type::kInt8;
  } else if constexpr (std::is_same_v<T, int16_t>) {
    return Type::kInt16;
  } else if constexpr (std::is_same_v<T, int32_t>) {
    return Type::kInt32;
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return Type::kInt64;
  } else if constexpr (std::is_same_v<T, __half>) {
    return Type::kHalf;
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return Type::kBFloat16;
  } else if constexpr (std::is_same_v<T, float>) {
    return Type::kFloat;
  } else {
    static_assert(std::is_same_v<T, double>,
                  "An array's elements have one of ten types.");
    return Type::kDouble;
  }
}();

// What 16 bits are computed in.
template <class T>
constexpr bool kIsNarrow =
    std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>;
template <class T>
using Wide = std::conditional_t<kIsNarrow<T>, float, T>;

template <class T>
constexpr T kLeast = std::numeric_limits<T>::min();
template <class T>
constexpr T kMost = std::numeric_limits<T>::max();

// A float outside the range of To becomes the nearest number of that range, and
// NaN becomes 0; a whole number that is too large loses its upper bits. A
// conversion to 16 bits goes by float.
template <class To, class From>
__device__ To cast(From v) {
  if constexpr (std::is_same_v<To, From>) {
    return v;
  } else if constexpr (std::is_same_v<From, __half>) {
    return cast<To>(__half2float(v));
  } else if constexpr (std::is_same_v<From, __nv_bfloat16>) {
    return cast<To>(__bfloat162float(v));
  } else if constexpr (std::is_same_v<To, __half>) {
    return __float2half_rn(static_cast<float>(v));
  } else if constexpr (std::is_same_v<To, __nv_bfloat16>) {
    return __float2bfloat16_rn(static_cast<float>(v));
  } else if constexpr (std::is_same_v<To, bool>) {
    return v != From{0};
  } else if constexpr (std::is_floating_point_v<From> &&
                       std::is_integral_v<To>) {
    if (v != v) return 0;
    if (v <= static_cast<From>(kLeast<To>)) return kLeast<To>;
    if (v >= static_cast<From>(kMost<To>)) return kMost<To>;
    return static_cast<To>(v);
  } else {
    return static_cast<To>(v);
  }
}

template <int kBytes>
using Bits = std::conditional_t<
    kBytes == 1, uint8_t,
    std::conditional_t<kBytes == 2, uint16_t,
                       std::conditional_t<kBytes == 4, uint32_t, uint64_t>>>;

// Neighbours in memory. They are kept as plain bits, because a type with a copy
// constructor would be copied by itself; a bool may have any of eight set.
template <class T, int kWidth>
struct alignas(std::min<size_t>(16, sizeof(T) * kWidth)) Pack {
  using Word = Bits<std::clamp<int>(sizeof(T) * kWidth, sizeof(T),
                                    std::max<int>(4, sizeof(T)))>;
  Word words[sizeof(T) * kWidth / sizeof(Word)];

  __device__ T get(int e) const {
    const char* const place = reinterpret_cast<const char*>(words);
    Bits<sizeof(T)> bits;
    std::memcpy(&bits, place + e * sizeof(T), sizeof(T));
    if constexpr (std::is_same_v<T, bool>) {
      return bits != 0;
    } else {
      T element;
      std::memcpy(static_cast<void*>(&element), &bits, sizeof(T));
      return element;
    }
  }
  __device__ void set(int e, T element) {
    std::memcpy(reinterpret_cast<char*>(words) + e * sizeof(T), &element,
                sizeof(T));
  }
};

}  // namespace strided
