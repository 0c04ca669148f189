// Chapter 16: elements of three types as floats, and the channel of each.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <bit>
#include <type_traits>

#include "chapters/16_bn_relu/plan.h"
#include "common/check.h"

namespace batch_norm {

__device__ inline float to_float(float v) { return v; }
__device__ inline float to_float(__half v) { return __half2float(v); }
__device__ inline float to_float(__nv_bfloat16 v) {
  return __bfloat162float(v);
}

// Rounded to an element.
template <class T>
__device__ T rounded(float v) {
  if constexpr (sizeof(T) == sizeof(float)) {
    return v;
  } else if constexpr (std::is_same_v<T, __half>) {
    return __float2half_rn(v);
  } else {
    return __float2bfloat16_rn(v);
  }
}

// What moves in one access.
template <int kBytes>
struct Access;
template <>
struct Access<2> {
  using Type = unsigned short;
};
template <>
struct Access<4> {
  using Type = unsigned int;
};
template <>
struct Access<8> {
  using Type = uint2;
};
template <>
struct Access<16> {
  using Type = uint4;
};

// Some elements side by side, in words: as elements, two halves would take two
// registers.
template <class T, int kPack>
struct Pack {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>;
  using Word = std::conditional_t<sizeof(T) * kPack == 2, uint16_t, uint32_t>;
  using Whole = typename Access<sizeof(T) * kPack>::Type;
  static constexpr int kInWord = sizeof(Word) / sizeof(T);
  Word words[kPack / kInWord];

  __device__ float operator[](int k) const {
    const auto bits = static_cast<Bits>(words[k / kInWord] >> shift(k));
    return to_float(__builtin_bit_cast(T, bits));
  }
  __device__ void set(int k, float v) {
    clear(k);
    const Word bits = __builtin_bit_cast(Bits, rounded<T>(v));
    words[k / kInWord] |= bits << shift(k);
  }
  __device__ void clear(int k) {
    words[k / kInWord] &= ~(Word{static_cast<Bits>(~Bits{})} << shift(k));
  }

 private:
  static __device__ int shift(int k) { return k % kInWord * 16; }
};

template <class T>
constexpr int kWidest = 16 / sizeof(T);

template <class T, int kPack>
__device__ Pack<T, kPack> load(const T* from) {
  using Whole = typename Pack<T, kPack>::Whole;
  const Whole whole = *reinterpret_cast<const Whole*>(from);
  return __builtin_bit_cast(Pack<T, kPack>, whole);
}

template <class T, int kPack>
__device__ void store(T* to, const Pack<T, kPack>& pack) {
  using Whole = typename Pack<T, kPack>::Whole;
  // As one access: nvcc may take a plain assignment apart.
  __stwb(reinterpret_cast<Whole*>(to), __builtin_bit_cast(Whole, pack));
}

// Dividing by a number that the host knows: a multiplication and a shift, where
// 31 bits suffice.
class Divider {
 public:
  Divider(int64_t divisor, int64_t most)
      : divisor_(std::max<int64_t>(divisor, 1)) {  // There may be no element.
    if (most > INT32_MAX) return;
    shift_ = std::bit_width(static_cast<uint64_t>(divisor_ - 1));
    factor_ = static_cast<unsigned>(((1ull << shift_) - divisor_) *
                                    (1ull << 32) / divisor_) +
              1;
  }
  __device__ int64_t divide(int64_t i) const {
    if (factor_ == 0) return i / divisor_;
    const auto low = static_cast<unsigned>(i);
    return (__umulhi(low, factor_) + low) >> shift_;
  }

 private:
  int64_t divisor_;
  unsigned shift_ = 0, factor_ = 0;  // 0: not used.
};

// What a kernel has to know of x.
struct Task {
  Shape shape;
  Divider by_inner, by_channels;
  int64_t n;

  explicit Task(const Shape& s)
      : shape(s),
        by_inner(s.inner, s.n()),
        by_channels(s.channels, s.n()),
        n(s.n()) {}
};

// The channel of element i, and of those after it.
class Place {
 public:
  __device__ Place(const Task& task, int64_t i)
      : inner_(task.shape.inner), channels_(task.shape.channels) {
    const int64_t row = task.by_inner.divide(i);
    left_ = inner_ - (i - row * inner_);
    channel_ = row - task.by_channels.divide(row) * channels_;
  }
  __device__ int64_t channel() const { return channel_; }
  __device__ int64_t left() const { return left_; }  // In the row.

  // To the next element. Whether it is another channel's.
  __device__ bool step() {
    if (--left_ > 0) return false;
    left_ = inner_;
    if (++channel_ == channels_) channel_ = 0;
    return true;
  }

 private:
  int64_t inner_, channels_, left_, channel_;
};

// Calls f with an element of the type that what is made of.
template <class F>
void with_type(Element element, F f) {
  switch (element) {
    case Element::kFloat:
      return f(float{});
    case Element::kHalf:
      return f(__half{});
    case Element::kBfloat16:
      return f(__nv_bfloat16{});
  }
  std::fprintf(stderr, "bn_relu: there is no element %d.\n",
               static_cast<int>(element));
  std::exit(EXIT_FAILURE);
}

// Calls f with the elements of a pack, as a constant.
template <class T, class F>
void with_pack(bool aligned, F f) {
  if (aligned) {
    f(std::integral_constant<int, kWidest<T>>{});
  } else {
    f(std::integral_constant<int, 1>{});
  }
}

// Whether all of these, or null, are aligned for so many bytes.
template <class... Pointers>
bool aligned_to(uintptr_t bytes, Pointers... p) {
  return ((reinterpret_cast<uintptr_t>(p) % bytes == 0) && ...);
}

inline int attribute(cudaDeviceAttr which) {
  int device, value;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

}  // namespace batch_norm
