// What gelu() must return, and how far off it is, for the checks and the
// benchmark.
#pragma once

#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>

// The formula of common/gelu.h in double, rounded to half.
inline __half gelu_in_double(__half v) {
  const double x = __half2float(v);
  if (std::isinf(x)) return x > 0 ? v : __ushort_as_half(0);
  const double u = std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x);
  return __double2half(x / (1 + std::exp(-2 * u)));
}

// Neighbouring halves have neighbouring places; -0 and +0 share one.
inline int16_t place(__half v) {
  const uint16_t bits = __half_as_ushort(v);
  return static_cast<int16_t>(bits < 0x8000 ? bits : 0x8000 - bits);
}
