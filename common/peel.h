// Built in chapter 10.
//
// The packs of an array that may begin at any float: they begin at the first
// aligned address. Up to three floats stand before them and three after.
#pragma once

#include <algorithm>

#include "common/pack.h"

struct Peeled {
  int64_t head;  // Floats before the packs.
  int64_t packs;
};

inline Peeled peel(const float* x, int64_t n) {
  const int64_t misaligned = reinterpret_cast<uintptr_t>(x) / sizeof(float);
  const int64_t head = std::min(n, -misaligned & (kPack - 1));
  return {head, (n - head) / kPack};
}
