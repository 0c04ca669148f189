// Loops over the lanes of a warp, written so that the compiler makes vector
// code of them.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "common/simt/core/warp.h"

namespace simt {

// An unsigned integer as wide as T.
template <size_t kBytes>
struct UnsignedOf;
template <>
struct UnsignedOf<1> {
  using type = uint8_t;
};
template <>
struct UnsignedOf<2> {
  using type = uint16_t;
};
template <>
struct UnsignedOf<4> {
  using type = uint32_t;
};
template <>
struct UnsignedOf<8> {
  using type = uint64_t;
};
template <>
struct UnsignedOf<16> {
  using type = unsigned __int128;
};
template <class T>
using Unsigned = typename UnsignedOf<sizeof(T)>::type;

// 1 << lane, from memory: a vector of masks is tested with it at once, where
// shifts would be one more instruction each.
constexpr std::array<uint32_t, kLanes> kLaneBit = [] {
  std::array<uint32_t, kLanes> bit{};
  for (int l = 0; l < kLanes; ++l) bit[l] = 1u << l;
  return bit;
}();

// A number of so many bytes, in every lane of a register.
inline void spread_value(uint8_t* to, int bytes, uint64_t value) {
  for (int l = 0; l < kLanes; ++l) std::memcpy(to + l * bytes, &value, bytes);
}

// to[l] = from[l] for the lanes in `mask`.
template <class T>
inline void blend_lanes(T* to, const T* from, uint32_t mask) {
#pragma GCC ivdep
  for (int l = 0; l < kLanes; ++l) to[l] = mask & kLaneBit[l] ? from[l] : to[l];
}

// out[i] = f(i) for the lanes in `mask`. Each lane is made of kParts values
// side by side: two for f16x2 and its kin.
//
// All lanes are computed, whatever the mask, because a vector of eight costs
// no more than one: f must be harmless on leftovers. f may read `out` at the
// same index, never at another: registers do not overlap, hence ivdep.
template <int kParts = 1, class F, class Out>
inline void map_indices(uint32_t mask, Out* out, F f) {
  constexpr int kValues = kParts * kLanes;
  if (mask == kAllLanes) {
#pragma GCC ivdep
    for (int i = 0; i < kValues; ++i) out[i] = f(i);
    return;
  }
  alignas(64) Out value[kValues];
#pragma GCC ivdep
  for (int i = 0; i < kValues; ++i) value[i] = f(i);
#pragma GCC ivdep
  for (int i = 0; i < kValues; ++i)
    out[i] = mask & kLaneBit[i / kParts] ? value[i] : out[i];
}

// out[i] = f(in[i]...) likewise.
template <int kParts = 1, class F, class Out, class... In>
inline void map_lanes(uint32_t mask, Out* out, F f, const In*... in) {
  map_indices<kParts>(mask, out, [=](int i) { return f(in[i]...); });
}

// The same lane by lane, for what is too dear to compute in vain.
template <class F, class Out, class... In>
inline void each_lane(uint32_t mask, Out* out, F f, const In*... in) {
  for (; mask; mask &= mask - 1) {
    const int l = std::countr_zero(mask);
    out[l] = f(in[l]...);
  }
}

// A bit for each lane for which f(in[l]...) is true.
template <class F, class... In>
inline uint32_t lanes_where(F f, const In*... in) {
  uint32_t bits = 0;
#ifdef __AVX2__  // Else the compiler adds the bits up lane by lane.
  alignas(32) int32_t holds[kLanes];
  for (int l = 0; l < kLanes; ++l) holds[l] = f(in[l]...) ? -1 : 0;
  for (int l = 0; l < kLanes; l += 8) {
    // <immintrin.h> would cost every file a third of a second.
    using Eight = float __attribute__((vector_size(32), may_alias));
    const auto& eight = *reinterpret_cast<const Eight*>(holds + l);
    bits |= uint32_t(__builtin_ia32_movmskps256(eight)) << l;
  }
#else
  for (int l = 0; l < kLanes; ++l) bits |= f(in[l]...) ? kLaneBit[l] : 0;
#endif
  return bits;
}

// Predicates: 32 lanes in one word.
inline uint32_t read_predicate(Warp& warp, const Instruction& ins, int source) {
  const uint32_t bits = *lanes<uint32_t>(warp, ins.source(source));
  return ins.inverts(source) ? ~bits : bits;
}

// Those lanes for which the guard holds.
inline uint32_t read_guard(Warp& warp, const Instruction& ins) {
  const uint32_t bits = *lanes<uint32_t>(warp, ins.guard);
  return ins.guard_negated ? ~bits : bits;
}

// `bits` with the predicate that is this source, as Instruction::logic says.
inline uint32_t combine(Warp& warp, const Instruction& ins, int source,
                        uint32_t bits) {
  switch (ins.logic) {
    case Logic::kAnd:
      return bits & read_predicate(warp, ins, source);
    case Logic::kOr:
      return bits | read_predicate(warp, ins, source);
    case Logic::kXor:
      return bits ^ read_predicate(warp, ins, source);
    case Logic::kNone:
      break;
  }
  return bits;
}

inline void write_predicate(Warp& warp, Place place, uint32_t bits,
                            uint32_t mask) {
  if (place == kNowhere) return;
  uint32_t* to = lanes<uint32_t>(warp, place);
  *to = (*to & ~mask) | (bits & mask);
}

// Handlers made of a functor: result type D, operand types A, B, C.
template <class Op, class D, class A = D>
void unary(Warp& w, const Instruction& i, uint32_t mask) {
  map_lanes(mask, lanes<D>(w, i.result(0)), Op{}, lanes<A>(w, i.source(0)));
}

template <class Op, class D, class A = D, class B = A>
void binary(Warp& w, const Instruction& i, uint32_t mask) {
  map_lanes(mask, lanes<D>(w, i.result(0)), Op{}, lanes<A>(w, i.source(0)),
            lanes<B>(w, i.source(1)));
}

template <class Op, class D, class A = D, class B = A, class C = D>
void ternary(Warp& w, const Instruction& i, uint32_t mask) {
  map_lanes(mask, lanes<D>(w, i.result(0)), Op{}, lanes<A>(w, i.source(0)),
            lanes<B>(w, i.source(1)), lanes<C>(w, i.source(2)));
}

}  // namespace simt
