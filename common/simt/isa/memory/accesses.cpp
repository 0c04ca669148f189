// Loads and stores of one element or several, and whose each instruction is
// that has to do with memory.
#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "common/simt/core/access.h"
#include "common/simt/core/block.h"
#include "common/simt/core/lanes.h"
#include "common/simt/isa/memory/atomic.h"
#include "common/simt/isa/memory/memory.h"
#include "common/simt/isa/memory/places.h"

namespace simt {
namespace {

// ---- Memory that other threads of the host use, too ------------------------

// What other threads of the host may do the same with.
template <class T>
T read_atomically(const T* from) {
  return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}

template <class T>
void write_atomically(T* to, T value) {
  __atomic_store_n(to, value, __ATOMIC_RELEASE);
}

Wide read_atomically(const Wide* from) {
  return swap_atomically(const_cast<Wide*>(from), 0, 0);
}
void write_atomically(Wide* to, Wide value) {
  for (Wide old = *to, found;; old = found)
    if ((found = swap_atomically(to, old, value)) == old) return;
}

// Volatile accesses, relaxed ones and stronger ones meet other threads', also
// those of the host program; and guesses meet atomics. None is weaker than
// acquire and release.
bool is_shared_with_threads(const Instruction& ins, const Access& a) {
  return a.space == Space::kGlobal &&
         (ins.strength != Strength::kWeak || ins.guess != Guess::kNone);
}

// ---- Loads -----------------------------------------------------------------

// Element k of `count` for each lane, if most lanes mean the same as the lane
// before them, or go on where it ends: a few stretches, not 32 places.
template <class Memory, class Register>
bool load_spans(const Access& a, int k, int count, Register* to) {
  constexpr int kMost = 24;
  using Span = Access::Span;
  if (std::popcount(a.same) >= kMost) {
    a.each_span(a.mask, a.same, [&](const Span& s) {
      const Register value(a.at<const Memory>(s.first)[k]);
      std::fill_n(to + s.first, s.lanes, value);
    });
  } else if (std::popcount(a.next) >= kMost) {
    a.each_span(a.mask, a.next, [&](const Span& s) {
      const Memory* from = a.at<const Memory>(s.first) + k;
      for (int l = 0; l < s.lanes; ++l)
        to[s.first + l] = Register(from[l * count]);
    });
  } else {
    return false;
  }
  return true;
}

// Element k of `count` for each lane.
template <class Memory, class Register>
void load_element(const Access& a, int k, int count, bool atomic,
                  Register* to) {
  if (a.dense && !atomic) {
    const Memory* from = a.at<const Memory>(0) + k;
    if (count == 1)
      for (int l = 0; l < kLanes; ++l) to[l] = Register(from[l]);
    else
      for (int l = 0; l < kLanes; ++l) to[l] = Register(from[l * count]);
    return;
  }
  if (!atomic && load_spans<Memory>(a, k, count, to)) return;
  for (uint32_t rest = a.mask; rest; rest &= rest - 1) {
    const int l = first_lane(rest);
    const Memory* from = a.at<const Memory>(l) + k;
    to[l] = Register(atomic ? read_atomically(from) : *from);
  }
}

template <class Memory, class Register>
void load(Warp& warp, const Instruction& ins, uint32_t mask) {
  const int count = ins.result_count;
  for (Access a(ins.address(), sizeof(Memory) * count, Use::kLoad); mask;
       mask &= ~a.mask) {
    resolve(warp, ins, mask, a);
    const bool atomic = is_shared_with_threads(ins, a);
    for (int k = 0; k < count; ++k)
      if (ins.result(k) != kNowhere)
        load_element<Memory>(a, k, count, atomic,
                             lanes<Register>(warp, ins.result(k)));
    if (ins.kind == Kind::kPoll && ins.result(0) != kNowhere)
      warp.poll.found(fingerprint(a, lanes<Register>(warp, ins.result(0))));
  }
}

// ---- Stores ----------------------------------------------------------------

// Whether a store changes anything that others could see.
template <class Memory, class Register>
bool changes(Warp& warp, const Instruction& ins, const Access& a) {
  if (a.space == Space::kLocal || a.space == Space::kParam) return false;
  for (int k = 0; k < ins.source_count; ++k) {
    const Register* from = lanes<Register>(warp, ins.source(k));
    for (uint32_t rest = a.mask; rest; rest &= rest - 1) {
      const int l = first_lane(rest);
      const Memory now = read_atomically(a.at<const Memory>(l) + k);
      if (now != Memory(from[l])) return true;
    }
  }
  return false;
}

template <class Memory, class Register>
void store_element(const Access& a, int k, int count, bool atomic,
                   const Register* from) {
  if (a.dense && !atomic) {
    Memory* to = a.at<Memory>(0) + k;
    if (count == 1)
      for (int l = 0; l < kLanes; ++l) to[l] = Memory(from[l]);
    else
      for (int l = 0; l < kLanes; ++l) to[l * count] = Memory(from[l]);
    return;
  }
  for (uint32_t rest = a.mask; rest; rest &= rest - 1) {
    const int l = first_lane(rest);
    Memory* to = a.at<Memory>(l) + k;
    if (atomic)
      write_atomically(to, Memory(from[l]));
    else
      *to = Memory(from[l]);
  }
}

template <class Memory, class Register>
void store(Warp& warp, const Instruction& ins, uint32_t mask) {
  const int count = ins.source_count;
  for (Access a(ins.address(), sizeof(Memory) * count, Use::kStore); mask;
       mask &= ~a.mask) {
    resolve(warp, ins, mask, a);
    if (warp.block->quiet && changes<Memory, Register>(warp, ins, a))
      warp.block->quiet = false;
    const bool atomic = is_shared_with_threads(ins, a);
    for (int k = 0; k < count; ++k)
      store_element<Memory>(a, k, count, atomic,
                            lanes<Register>(warp, ins.source(k)));
  }
}

// ---- Decoding --------------------------------------------------------------

// By the width of the register: it may be wider than what is in memory.
template <template <class, class> class Op, class Memory>
Handler by_register(int bytes) {
  if constexpr (sizeof(Memory) == 1)
    if (bytes == 1) return Op<Memory, uint8_t>::run;
  if constexpr (sizeof(Memory) <= 2)
    if (bytes == 2) return Op<Memory, uint16_t>::run;
  if constexpr (sizeof(Memory) <= 4)
    if (bytes == 4) return Op<Memory, uint32_t>::run;
  if constexpr (sizeof(Memory) <= 8)
    if (bytes == 8) return Op<Memory, uint64_t>::run;
  if constexpr (sizeof(Memory) == 16)
    if (bytes == 16) return Op<Memory, Wide>::run;
  throw Error("a register of fewer bits than what is in memory");
}

template <class M, class R>
struct Load {
  static constexpr Handler run = load<M, R>;
};

template <class M, class R>
struct Store {
  static constexpr Handler run = store<M, R>;
};

template <template <class, class> class Op>
Handler access_handler(Type type, int register_bytes) {
  const bool sign = type.is_signed();
  switch (type.bytes) {
    case 1:
      return sign ? by_register<Op, int8_t>(register_bytes)
                  : by_register<Op, uint8_t>(register_bytes);
    case 2:
      return sign ? by_register<Op, int16_t>(register_bytes)
                  : by_register<Op, uint16_t>(register_bytes);
    case 4:
      return sign ? by_register<Op, int32_t>(register_bytes)
                  : by_register<Op, uint32_t>(register_bytes);
    case 8:
      return by_register<Op, uint64_t>(register_bytes);
    default:
      return by_register<Op, Wide>(register_bytes);
  }
}

Strength strength_of(const Statement& s) {
  if (s.has("relaxed") || s.has("acquire") || s.has("release") || s.has("mmio"))
    return Strength::kStrong;
  return s.has("volatile") || s.has("cv") ? Strength::kVolatile
                                          : Strength::kWeak;
}

// Of the registers among these operands: all have one width.
int register_width(const std::vector<std::string>& names,
                   OperandReader& operands, Type type) {
  int width = 0;
  for (const std::string& name : names) {
    const int one = operands.width(named(name));
    if (one && width && one != width)
      throw Error("registers of different widths");
    if (one) width = one;
  }
  return width ? width : std::max<int>(type.bytes, 2);  // Numbers.
}

void decode_access(const Statement& s, OperandReader& operands, Draft& ins) {
  const bool is_store = s.name() == "st";
  const Operand& value = s.operands.at(is_store ? 1 : 0);
  const Type type = s.type();
  ins.element_bytes = type.bytes;
  ins.strength = strength_of(s);
  ins.releases = s.has("release");
  ins.acquires = s.has("acquire");
  ins.read_only = s.has("nc");
  decode_scope(s, ins);
  if (ins.strength != Strength::kWeak && !is_store) ins.kind = Kind::kPoll;
  std::vector<std::string> names = value.list;
  if (names.empty()) names = {value.text};
  const int width = register_width(names, operands, type);
  for (const std::string& name : names)
    if (is_store)
      ins.read.push_back(operands.source(named(name), width));
    else
      ins.written.push_back(operands.destination(named(name)));
  (is_store ? ins.from_bytes : ins.to_bytes) = static_cast<uint8_t>(width);
  ins.run = is_store ? access_handler<Store>(type, width)
                     : access_handler<Load>(type, width);
}

}  // namespace

void decode_scope(const Statement& s, Draft& ins) {
  ins.for_block = s.has("cta");
  ins.for_cluster = s.has("cluster");
  ins.for_system = s.has("sys");
}

bool decode_memory(const Statement& s, OperandReader& operands, Draft& ins) {
  const std::string& op = s.name();
  if ((op == "st" || op == "red") && s.has("async")) return false;
  if (op == "ld" || op == "ldu" || op == "st")
    decode_access(s, operands, ins);
  else if (op == "atom" || op == "red")
    decode_atomic(s, operands, ins);
  else
    return decode_space(s, operands, ins) || decode_fence(s, operands, ins);
  return true;
}

}  // namespace simt
