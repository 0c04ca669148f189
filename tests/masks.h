// Masks of one bit per element, 32 to a word, for contracts that keep such.
#pragma once

#include "tests/every_contract.h"

namespace contract {

using Words = std::vector<uint32_t>;

// As many words as n bits need, all 0.
inline Words no_bits(int64_t n) { return Words((n + 31) / 32); }

inline bool bit(const Words& mask, int64_t i) {
  return mask[i / 32] >> (i % 32) & 1;
}

// Which elements are greater than 0.
inline Words mask_of(const Floats& x) {
  Words mask = no_bits(std::ssize(x));
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] > 0.f) mask[i / 32] |= 1u << (i % 32);
  }
  return mask;
}

// Of no elements in particular; nothing after bit n - 1.
inline Words random_mask(int64_t n) {
  static std::mt19937 bits(seed() + 3);
  Words mask = no_bits(n);
  for (uint32_t& word : mask) word = bits();
  if (n % 32 != 0) mask.back() &= (1u << (n % 32)) - 1;
  return mask;
}

inline std::string hex(uint32_t word) {
  char line[16];
  std::snprintf(line, sizeof line, "0x%08x", word);
  return line;
}

}  // namespace contract
