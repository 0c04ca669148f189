// Chapter 15: functors for the engine of gpu_kernel.h.
//
// T is what they are computed for; 16 bits are computed in float.
#pragma once

#include "chapters/15_strides_and_casts/functor.h"

namespace strided {

template <class T>
struct Copy {
  __device__ T operator()(T x) const { return x; }
};

// A NaN passes, and no result is -0.
template <class T>
struct Rectify {
  __device__ T operator()(T x) const {
    const Wide<T> v = cast<Wide<T>>(x);
    return v <= Wide<T>{0} ? T{} : x;
  }
};

// Whole numbers that become too large begin again at the least one.
template <class T>
struct Add {
  __device__ Wide<T> wide(Wide<T> x, Wide<T> y) const {
    if constexpr (std::is_integral_v<T>)  // A signed sum may not overflow.
      return static_cast<T>(uint64_t(x) + uint64_t(y));
    else
      return x + y;
  }
  __device__ T operator()(T x, T y) const {
    return cast<T>(wide(cast<Wide<T>>(x), cast<Wide<T>>(y)));
  }
};

// x + y z
template <class T>
struct AddProduct {
  __device__ T operator()(T x, T y, T z) const {
    const Wide<T> product = cast<Wide<T>>(y) * cast<Wide<T>>(z);
    return cast<T>(cast<Wide<T>>(x) + product);
  }
};

template <class T>
struct Less {
  __device__ bool operator()(T x, T y) const {
    return cast<Wide<T>>(x) < cast<Wide<T>>(y);
  }
};

template <class T>
struct SumAndDifference {
  __device__ Several<T, T> operator()(T x, T y) const { return {x + y, x - y}; }
};

}  // namespace strided
