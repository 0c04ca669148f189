// Atomics, and what loads and stores share with them.
#pragma once
#include <cstdint>

#include "common/simt/core/access.h"
#include "common/simt/core/async.h"
#include "common/simt/isa/arithmetic/arithmetic.h"

namespace simt {

// What makes one thing of an element that is there and one that comes.
AsyncCopy::Reduction reduction_of(Type type);
AsyncCopy::Reduction tensor_reduction_of(Type type);
Update update_of(const Statement& s);

// Decodes atom and red. Their addresses are already there.
void decode_atomic(const Statement& s, OperandReader& operands, Draft& ins);

// Of 128 bits. x86 has one instruction for so much, and that writes, too.
using Wide = unsigned __int128;
inline Wide swap_atomically(Wide* at, Wide expected, Wide wanted) {
  return __sync_val_compare_and_swap(at, expected, wanted);
}

template <class T>
uint64_t folded(T value) {
  return static_cast<uint64_t>(value);
}
inline uint64_t folded(Wide value) {
  return static_cast<uint64_t>(value) +
         static_cast<uint64_t>(value >> 64) * 0x9e3779b97f4a7c15;
}

// A number that is the same when the same lanes read the same again.
template <class T>
uint64_t fingerprint(const Access& a, const T* values) {
  uint64_t sum = a.mask;
  for (uint32_t rest = a.mask; rest; rest &= rest - 1) {
    const int l = first_lane(rest);
    sum = sum * 0x9e3779b97f4a7c15 + a.address[l] * 31 + folded(values[l]);
  }
  return sum;
}

}  // namespace simt
