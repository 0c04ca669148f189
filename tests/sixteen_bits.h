// Both kinds of numbers of 16 bits, and what any element's number is.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

namespace contract {

using Half = __half;
using Brain = __nv_bfloat16;

template <class T>
long double number(T v) {
  if constexpr (std::is_same_v<T, Half>)
    return __half2float(v);
  else if constexpr (std::is_same_v<T, Brain>)
    return __bfloat162float(v);
  else
    return v;
}

}  // namespace contract
