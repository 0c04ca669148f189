// Built in chapter 03.
//
// As many neighbouring floats as one access moves, and the addresses where that
// access may be.
#pragma once

#include <cstdint>

constexpr int kPack = 4;

// alignas lets the compiler move the four floats in one access.
struct alignas(16) Pack {
  float v[kPack];
};

inline bool is_aligned(const void* p) {
  return reinterpret_cast<uintptr_t>(p) % alignof(Pack) == 0;
}
