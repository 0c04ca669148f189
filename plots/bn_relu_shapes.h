// The images of which bn_relu is counted and timed, where one number n says how
// many elements they have.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/bn_relu.h"

// Up to 64 channels of up to 4,096 pixels, floats, with ReLU.
inline BnRelu images_of(int64_t n) {
  const auto power_in = [](int64_t v, int64_t most) {
    return std::min(most, v & -v);
  };
  const int64_t channels = power_in(n, 64);
  const int64_t pixels = power_in(n / channels, 4096);
  return {n / channels / pixels, channels, 1,     pixels, false,
          Element::kFloat,       true,     1e-5f, 0.1f};
}
