// min and max of floating-point numbers, of any width.
//
// Done on their bits: magnitudes are ordered like integers, negative ones
// backwards, which puts -0 below +0 as PTX wants, and makes vector code.
#include "common/simt/isa/arithmetic/float.h"

namespace simt {
namespace {

// A format, by its unsigned integer and the bits of infinity.
template <class U, U kInfinity>
struct Format {
  using Bits = U;
  static constexpr U kSign = U(1) << (8 * sizeof(U) - 1);

  static bool is_nan(U x) { return U(x & ~kSign) > kInfinity; }
  static U flush(U x) { return x & kInfinity ? x : x & kSign; }
  // Increases with the number.
  static U rank(U x) { return x & kSign ? U(~x) : U(x | kSign); }
  // Of two NaNs. A double keeps the payload of the second, and is quiet;
  // everything else has one NaN only.
  static U both_nan(U b) {
    return sizeof(U) == 8 ? U(b | (kInfinity >> 1 & ~kInfinity)) : U(~kSign);
  }
};

// A NaN loses against a number.
template <class F, bool kMax>
struct Extreme {
  using U = typename F::Bits;
  U operator()(U a, U b) const {
    const U ordered = (F::rank(a) < F::rank(b)) != kMax ? a : b;
    const U not_a = F::is_nan(b) ? F::both_nan(b) : b;
    const U numeric = F::is_nan(b) ? a : ordered;
    return F::is_nan(a) ? not_a : numeric;
  }
};

template <class F, int kParts, bool kMax>
void extreme(Warp& w, const Instruction& i, uint32_t mask) {
  using U = typename F::Bits;
  U* d = lanes<U>(w, i.result(0));
  const U* a = lanes<U>(w, i.source(0));
  const U* b = lanes<U>(w, i.source(1));
  if (i.modifiers == FloatModifiers{})
    return map_lanes<kParts>(mask, d, Extreme<F, kMax>{}, a, b);
  const bool ftz = i.modifiers.flush;
  // What of an operand may reach the comparison, and what any NaN does to the
  // result: masks, so that the loop has no branches.
  const U magnitude = i.modifiers.by_magnitude ? U(~F::kSign) : U(~U(0));
  const U propagate = i.modifiers.propagate_nan ? U(~U(0)) : U(0);
  map_lanes<kParts>(
      mask, d,
      [=](U a, U b) {
        a = ftz ? F::flush(a) : a;
        b = ftz ? F::flush(b) : b;
        const U chosen = Extreme<F, kMax>{}(a & magnitude, b & magnitude);
        const U sign = (a ^ b) & ~magnitude;
        const U result = F::is_nan(chosen) ? chosen : U(chosen | sign);
        const U if_a_nan = F::is_nan(a) ? propagate : U(0);
        const U if_b_nan = F::is_nan(b) ? propagate : U(0);
        return if_a_nan | if_b_nan ? F::both_nan(b) : result;
      },
      a, b);
}

using F32 = Format<uint32_t, 0x7f800000>;
using F64 = Format<uint64_t, 0x7ff0000000000000>;
using F16 = Format<uint16_t, 0x7c00>;
using BF16 = Format<uint16_t, 0x7f80>;

template <bool kMax>
Handler handler_for(Type t) {
  switch (t.kind) {
    case 'h':
      return extreme<F16, 1, kMax>;
    case 'x':
      return extreme<F16, 2, kMax>;
    case 'y':
      return extreme<BF16, 1, kMax>;
    case 'z':
      return extreme<BF16, 2, kMax>;
    default:
      return t.bytes == 4 ? extreme<F32, 1, kMax> : extreme<F64, 1, kMax>;
  }
}

template <bool kMax>
void decode(Decoding& d) {
  d.ins.modifiers = take_modifiers(d);
  d.bind(d.type.bytes, d.type.bytes);
  d.ins.run = handler_for<kMax>(d.type);
}

}  // namespace

const Family& extreme_family() {
  static const Family family = {
      "fhxyz", {{"min", decode<false>}, {"max", decode<true>}}};
  return family;
}

}  // namespace simt
