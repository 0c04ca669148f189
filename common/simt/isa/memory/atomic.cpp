// Atomics: what they make of a number in memory, one lane after the other.
#include "common/simt/isa/memory/atomic.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "common/simt/core/block.h"
#include "common/simt/core/half.h"
#include "common/simt/core/lanes.h"
#include "common/simt/isa/memory/memory.h"
#include "common/simt/isa/memory/places.h"

namespace simt {
namespace {

// ---- What two numbers become -----------------------------------------------

float flushed(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.f, x) : x;
}

// Global atomicAdd on floats flushes subnormal numbers to zero, the one on
// shared memory does not (PTX ISA, "atom").
float add(float a, float b, Space space) {
  const bool flushes = space == Space::kGlobal;
  const float sum = flushes ? flushed(flushed(a) + flushed(b)) : a + b;
  return sum == sum ? sum : std::bit_cast<float>(0x7fffffffu);
}

double add(double a, double b, Space) { return a + b; }

template <class Format>  // Half or BFloat
struct Sixteen {
  uint16_t bits;
};

template <class Format>
float value_of(Sixteen<Format> a) {
  return Format::widen(a.bits);
}

// A float has twice their bits and two more: rounding the sum to one and then
// again gives what rounding it once would.
template <class Format>
Sixteen<Format> add(Sixteen<Format> a, Sixteen<Format> b, Space) {
  return {Format::narrow(value_of(a) + value_of(b))};
}

// What is no number gives way; -0 is less than 0.
template <class T>
T lesser(T a, T b, bool greater) {
  const float x = value_of(a), y = value_of(b);
  if (x != x || y != y) return x != x ? b : a;
  const bool is_less = x == y ? std::signbit(x) : x < y;
  return is_less != greater ? a : b;
}

template <class T>
struct Pair {
  T low, high;
};

template <class T>
Pair<T> add(Pair<T> a, Pair<T> b, Space space) {
  return {add(a.low, b.low, space), add(a.high, b.high, space)};
}

template <class T>
T combine(Update update, T old, T b, T c, Space space) {
  if (update == Update::kExchange) return b;
  if constexpr (std::is_integral_v<T>) {
    switch (update) {
      case Update::kAdd:
        return static_cast<T>(old + b);
      case Update::kMin:
        return std::min(old, b);
      case Update::kMax:
        return std::max(old, b);
      case Update::kAnd:
        return old & b;
      case Update::kOr:
        return old | b;
      case Update::kXor:
        return old ^ b;
      case Update::kCompareAndSwap:
        return old == b ? c : old;
      case Update::kIncrement:
        return old >= b ? T{0} : static_cast<T>(old + 1);
      default:
        return old == 0 || old > b ? b : static_cast<T>(old - 1);
    }
  } else {
    if constexpr (requires { value_of(b); })
      if (update == Update::kMin || update == Update::kMax)
        return lesser(old, b, update == Update::kMax);
    return add(old, b, space);
  }
}

template <class T>
using Bits =
    std::conditional_t<sizeof(T) == 2, uint16_t,
                       std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;

template <class T>
struct Updated {
  Bits<T> old, next;
};

// Updates *p with b and c. Where other threads of the host may do the same,
// the exchange must be atomic for them too, at several times the cost.
template <class T>
Updated<T> replace(uint8_t* p, Update update, T b, T c, Space space,
                   bool threads) {
  auto* bits = reinterpret_cast<Bits<T>*>(p);
  const auto next = [&](Bits<T> old) {
    return std::bit_cast<Bits<T>>(
        combine(update, std::bit_cast<T>(old), b, c, space));
  };
  if (!threads) {
    const Bits<T> old = *bits;
    return {old, *bits = next(old)};
  }
  Bits<T> old = __atomic_load_n(bits, __ATOMIC_SEQ_CST);
  for (;;) {
    const Bits<T> wanted = next(old);
    if (__atomic_compare_exchange_n(bits, &old, wanted, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST))
      return {old, wanted};
  }
}

// ---- Atomics of a warp -----------------------------------------------------

template <class T>
void atomic(Warp& warp, const Instruction& ins, uint32_t mask) {
  const Place to_place = ins.result_count ? ins.result(0) : kNowhere;
  const T* b = lanes<T>(warp, ins.source(0));
  const T* c = ins.source_count == 2 ? lanes<T>(warp, ins.source(1)) : b;
  for (Access a(ins.address(), sizeof(T), Use::kAtomic); mask;
       mask &= ~a.mask) {
    resolve(warp, ins, mask, a);
    const bool threads =
        a.space == Space::kGlobal &&
        (warp.block->grid->threads > 1 || warp.block->meets_host);
    Bits<T> before[kLanes];
    bool changed = false;
    for (uint32_t rest = a.mask; rest; rest &= rest - 1) {
      const int l = first_lane(rest);
      const auto [old, next] = replace<T>(a.at<uint8_t>(l), ins.update, b[l],
                                          c[l], a.space, threads);
      before[l] = old;
      changed |= old != next;
    }
    if (changed)
      warp.block->quiet = false;
    else
      warp.poll.found(fingerprint(a, before));
    if (to_place == kNowhere) continue;
    auto* to = lanes<Bits<T>>(warp, to_place);
    for (uint32_t rest = a.mask; rest; rest &= rest - 1)
      to[first_lane(rest)] = before[first_lane(rest)];
  }
}

// Of 128 bits: an exchange, or a compare-and-swap.
void wide_atomic(Warp& warp, const Instruction& ins, uint32_t mask) {
  const Wide* b = lanes<Wide>(warp, ins.source(0));
  const bool compares = ins.update == Update::kCompareAndSwap;
  for (Access a(ins.address(), sizeof(Wide), Use::kAtomic); mask;
       mask &= ~a.mask) {
    resolve(warp, ins, mask, a);
    Wide before[kLanes];
    bool changed = false;
    for (uint32_t rest = a.mask; rest; rest &= rest - 1) {
      const int l = first_lane(rest);
      Wide* const at = a.at<Wide>(l);
      const Wide wanted = compares ? lanes<Wide>(warp, ins.source(1))[l] : b[l];
      Wide expected = compares ? b[l] : *at;
      while ((before[l] = swap_atomically(at, expected, wanted)) != expected &&
             !compares)
        expected = before[l];
      changed |= before[l] == expected && wanted != expected;
    }
    if (changed)
      warp.block->quiet = false;
    else
      warp.poll.found(fingerprint(a, before));
    if (ins.result(0) == kNowhere) continue;
    for (uint32_t rest = a.mask; rest; rest &= rest - 1)
      lanes<Wide>(warp, ins.result(0))[first_lane(rest)] =
          before[first_lane(rest)];
  }
}

Handler atomic_handler(Type type) {
  switch (type.kind) {
    case 'f':
      return type.bytes == 4 ? atomic<float> : atomic<double>;
    case 's':
      return type.bytes == 4 ? atomic<int32_t> : atomic<int64_t>;
    case 'h':
      return atomic<Sixteen<Half>>;
    case 'x':
      return atomic<Pair<Sixteen<Half>>>;
    case 'y':
      return atomic<Sixteen<BFloat>>;
    case 'z':
      return atomic<Pair<Sixteen<BFloat>>>;
    default:
      break;
  }
  switch (type.bytes) {
    case 2:
      return atomic<uint16_t>;
    case 4:
      return atomic<uint32_t>;
    case 8:
      return atomic<uint64_t>;
    default:
      return wide_atomic;
  }
}

// Several elements side by side, each an atomic of its own; of pairs, each
// half.
template <class T>
void vector_atomic(Warp& warp, const Instruction& ins, uint32_t mask) {
  const int width = ins.element_bytes;
  for (Access a(ins.address(), width * ins.source_count, Use::kAtomic); mask;
       mask &= ~a.mask) {
    resolve(warp, ins, mask, a);
    for (uint32_t rest = a.mask; rest; rest &= rest - 1) {
      const int l = first_lane(rest);
      for (int k = 0; k < ins.source_count; ++k) {
        const uint8_t* from = lanes<uint8_t>(warp, ins.source(k)) + l * width;
        uint8_t old[sizeof(uint32_t)];
        for (int at = 0; at < width; at += sizeof(T)) {
          T b;
          std::memcpy(&b, from + at, sizeof b);
          const Bits<T> was = replace<T>(a.at<uint8_t>(l) + k * width + at,
                                         ins.update, b, b, a.space, true)
                                  .old;
          std::memcpy(old + at, &was, sizeof was);
        }
        if (ins.result_count && ins.result(k) != kNowhere)
          std::memcpy(lanes<uint8_t>(warp, ins.result(k)) + l * width, old,
                      width);
      }
    }
  }
  warp.block->quiet = false;
}

Handler vector_handler(Type type) {
  if (type.is_float()) return vector_atomic<float>;
  return type.is('h') || type.is('x') ? vector_atomic<Sixteen<Half>>
                                      : vector_atomic<Sixteen<BFloat>>;
}

void decode_vector(const Statement& s, OperandReader& operands, Draft& ins) {
  if (s.name() == "atom")
    for (const std::string& name : s.operands.front().list)
      ins.written.push_back(operands.destination(named(name)));
  for (const std::string& name : s.operands.back().list)
    ins.read.push_back(operands.source(named(name), s.type().bytes));
  ins.run = vector_handler(s.type());
}

template <class T, Space like = Space::kGlobal>
void reduce(uint8_t* to, const uint8_t* from, Update update) {
  Bits<T> operand;
  std::memcpy(&operand, from, sizeof operand);
  const T b = std::bit_cast<T>(operand);
  replace<T>(to, update, b, b, like, true);
}

}  // namespace

// An H200 keeps their subnormal sums, as it does in shared memory.
AsyncCopy::Reduction tensor_reduction_of(Type type) {
  return type == Type{'f', 4} ? reduce<float, Space::kShared>
                              : reduction_of(type);
}

AsyncCopy::Reduction reduction_of(Type type) {
  switch (type.kind) {
    case 'f':
      return type.bytes == 4 ? reduce<float> : reduce<double>;
    case 's':
      return type.bytes == 4 ? reduce<int32_t> : reduce<int64_t>;
    case 'h':
      return reduce<Sixteen<Half>>;
    case 'y':
      return reduce<Sixteen<BFloat>>;
    default:
      return type.bytes == 4 ? reduce<uint32_t> : reduce<uint64_t>;
  }
}

Update update_of(const Statement& s) {
  static const char* const kNames[] = {"add", "min",  "max", "and", "or",
                                       "xor", "exch", "cas", "inc", "dec"};
  const auto* name = std::find_if(std::begin(kNames), std::end(kNames),
                                  [&](const char* n) { return s.has(n); });
  return static_cast<Update>(name - std::begin(kNames));
}

void decode_atomic(const Statement& s, OperandReader& operands, Draft& ins) {
  ins.update = update_of(s);
  const Type type = s.type();
  const bool result = s.name() == "atom";
  ins.element_bytes = type.bytes;
  ins.strength = Strength::kStrong;
  ins.releases = s.has("release") || s.has("acq_rel");
  ins.acquires = s.has("acquire") || s.has("acq_rel");
  decode_scope(s, ins);
  ins.kind = Kind::kPoll;
  if (!s.operands.back().list.empty()) return decode_vector(s, operands, ins);
  if (result) ins.written = {operands.destination(s.operands.at(0))};
  for (size_t k = 1 + result; k < s.operands.size(); ++k)
    ins.read.push_back(operands.source(s.operands[k], type.bytes));
  ins.run = atomic_handler(type);
}

}  // namespace simt
