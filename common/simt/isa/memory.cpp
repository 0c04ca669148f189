// Loads, stores, atomics, fences: handlers and decoding.
#include "common/simt/isa/memory.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <optional>

#include "common/simt/core/access.h"
#include "common/simt/core/finding.h"
#include "common/simt/core/lanes.h"
#include "common/simt/core/literals.h"
#include "common/simt/memory/allocations.h"
#include "common/simt/memory/peers.h"
#include "common/simt/observe/observers.h"

namespace simt {
namespace {

constexpr uint32_t kDiscarded = 128;  // a cache line: what discard takes

[[noreturn]] void report(Warp& warp, const Instruction& ins, const Access& a,
                         int lane, const std::string& kind, int code,
                         const std::string& more) {
  const char* spaces[] = {"generic",   "global",   "shared", "local",
                          "parameter", "constant", "shared"};
  fault(warp, ins, lane, kind,
        std::string(verb(a.use)) + " of " + std::to_string(a.bytes) +
            " bytes at " + spaces[static_cast<int>(a.space)] + " address " +
            hex(a.address[lane]) + more,
        code);
}

void read_addresses(Warp& warp, uint32_t mask, Access& a) {
  const Address& from = a.operand;
  if (from.base == kNowhere) {
    std::fill_n(a.address, kLanes, static_cast<uint64_t>(from.offset));
  } else if (from.bytes == 4) {
    const uint32_t* base = lanes<uint32_t>(warp, from.base);
    for (int l = 0; l < kLanes; ++l)
      a.address[l] = static_cast<uint32_t>(base[l] + from.offset);
  } else {
    const uint64_t* base = lanes<uint64_t>(warp, from.base);
    for (int l = 0; l < kLanes; ++l) a.address[l] = base[l] + from.offset;
  }
  if (a.displacement)
    for (int l = 0; l < kLanes; ++l) a.address[l] += a.displacement[l];
  a.mask = mask;
  if (mask == kAllLanes) return;
  const uint64_t filler = a.address[first_lane(mask)];
  for (int l = 0; l < kLanes; ++l)
    if (!(mask >> l & 1)) a.address[l] = filler;
}

// A generic address says in its top bits which space it is in; what lies before
// a space, too far from the others, was meant for it. Lanes in other spaces
// than the first wait for the next round.
constexpr uint64_t window_around(uint64_t address) {
  constexpr uint64_t kHalf = kSharedWindow / 2;
  return (address + kHalf) & kWindowMask;
}
void choose_space(Access& a) {
  a.space = a.operand.space;
  if (a.space != Space::kGeneric) return;
  a.owner = nullptr;
  const uint64_t window = window_around(a.address[first_lane(a.mask)]);
  uint32_t same = 0;
  for (int l = 0; l < kLanes; ++l)
    same |= uint32_t{window_around(a.address[l]) == window} << l;
  a.mask &= same;
  a.space = window == kSharedWindow  ? Space::kShared
            : window == kLocalWindow ? Space::kLocal
            : window == kParamWindow ? Space::kParam
                                     : Space::kGlobal;
  if (a.space == Space::kGlobal) return;
  for (uint64_t& address : a.address) address -= window;
}

void check_alignment(Warp& warp, const Instruction& ins, const Access& a,
                     uint32_t alignment) {
  for (int l = 0; l < kLanes; ++l)
    if ((a.mask >> l & 1) && a.address[l] % alignment)
      report(warp, ins, a, l, "misaligned access", kMisalignedAddress,
             ": the address is no multiple of " + std::to_string(alignment));
}

// All lanes within the `size` bytes of a space that `owner` has?
void require_inside(Warp& warp, const Instruction& ins, const Access& a,
                    uint64_t size, const std::string& owner, const char* what) {
  for (int l = 0; l < kLanes; ++l) {
    if (!(a.mask >> l & 1) || is_inside(a.address[l], a.bytes, 0, size))
      continue;
    const std::string all = std::to_string(size) + " bytes of " + what;
    const int bytes = a.operand.bytes;
    const uint64_t missing =
        bytes == 4 ? -static_cast<uint32_t>(a.address[l]) : -a.address[l];
    const bool before = a.address[l] >> (8 * bytes - 1);
    report(warp, ins, a, l, "out of bounds", kIllegalAddress,
           before ? ": " + std::to_string(missing) + " bytes before the " +
                        owner + "'s " + all
                  : ": the " + owner + " has " + all);
  }
}

// All lanes within the program's part of shared memory, or the system's?
void require_shared(Warp& warp, const Instruction& ins, const Access& a) {
  const Grid& grid = *warp.block->grid;
  // What is aligned and begins in the last word may end with it.
  const size_t end = a.bytes <= 4
                         ? (grid.shared_end() + a.bytes - 1) / a.bytes * a.bytes
                         : grid.shared_end();
  if (a.is_within(0, end)) return;
  Access own = a;
  for (int l = 0; grid.reserves_shared() && l < kLanes; ++l)
    if (is_inside(a.address[l], a.bytes, grid.reserved_begin(),
                  grid.all_shared()))
      own.mask &= ~(1u << l);
  require_inside(warp, ins, own, grid.shared_end(), "block", "shared memory");
}

// So many bytes of their own, none of them twice, do lanes of `mask` mean.
uint64_t distinct_bytes(const Access& a, uint32_t mask) {
  std::array<uint64_t, kLanes> places;
  int count = 0;
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    places[count++] = a.address[first_lane(rest)];
  std::sort(places.begin(), places.begin() + count);
  const auto end = std::unique(places.begin(), places.begin() + count);
  return uint64_t{a.bytes} * (end - places.begin());
}

// Lanes of `mask` access memory of one allocation that is not only their
// device's. An atomic takes its operand there and brings the old value back.
void meet_others(Warp& warp, const Instruction& ins, const Access& a,
                 uint32_t mask, const AllocationCache::Range& where) {
  if (where.of_host) warp.block->meets_host = true;
  if (!where.of_peer) return;
  const int here = warp.block->grid->shape.device;
  const uint64_t bytes = distinct_bytes(a, mask);
  if (a.use != Use::kLoad) peers().note_stored(here, where.device, bytes);
  if (a.use == Use::kLoad || (a.use == Use::kAtomic && ins.result_count &&
                              ins.atomic_form != AtomicForm::kReduction))
    peers().note_loaded(where.device, here, bytes);
}

bool may_touch(const Allocation& of_peer, int device) {
  return of_peer.memory == Memory::kPool
             ? peers().may_access_pool(of_peer.pool, device)
             : peers().may_access(device, of_peer.device);
}

std::string what_allows(const Allocation& of_peer, int device) {
  if (of_peer.memory == Memory::kPool)
    return "after cudaMemPoolSetAccess for its pool";
  return "after cudaSetDevice(" + std::to_string(device) +
         "), cudaDeviceEnablePeerAccess(" + std::to_string(of_peer.device) +
         ", 0)";
}

// Lanes in memory at another distance than the first's wait for the next round.
void find_allocations(Warp& warp, const Instruction& ins, Access& a,
                      AllocationCache::Range& known) {
  const Allocations& all = allocations();
  const int here = warp.block->grid->shape.device;
  uint32_t mask = 0;  // of lanes in `known`
  const uint64_t distance = all.distance(a.address[first_lane(a.mask)]);
  for (int l = 0; l < kLanes; ++l) {
    if (!(a.mask >> l & 1)) continue;
    const uint64_t from = a.address[l];
    if (all.distance(from) != distance) {
      a.mask &= ~(1u << l);
      a.dense = false;
      continue;
    }
    const uint32_t me = 1u << l;
    if (is_inside(from, a.bytes, known.begin, known.end)) {
      mask |= me;
      continue;
    }
    const std::optional<Allocation> found = all.find(from);
    if (found && found->freed)
      report(warp, ins, a, l, "use after free", kIllegalAddress,
             ": " + all.describe(from));
    if (!found || !is_inside(from, a.bytes, found->begin, found->end))
      report(warp, ins, a, l, "out of bounds", kIllegalAddress,
             ": " + all.describe(from));
    if (a.operand.space == Space::kConst && found->memory != Memory::kConstant)
      report(warp, ins, a, l, "out of bounds", kIllegalAddress,
             ": no constant memory, but " + all.describe(from));
    if (a.use != Use::kLoad && found->read_only)
      report(warp, ins, a, l, "read only", kIllegalAddress,
             ": an input, which stays as it is: " + all.describe(from));
    const bool of_host = !found->is_device_only() || found->adopted;
    const bool of_peer = !of_host && found->device != here;
    if (of_peer && !may_touch(*found, here))
      report(warp, ins, a, l, "no peer access", kIllegalAddress,
             ": " + all.describe(from) + ". Kernels of device " +
                 std::to_string(here) + " may touch it " +
                 what_allows(*found, here));
    if (mask && known.others()) meet_others(warp, ins, a, mask, known);
    mask = me;
    known = {found->begin, found->end, distance,
             of_host,      of_peer,    found->device};
  }
  if (known.others()) meet_others(warp, ins, a, mask, known);
}

void place_global(Warp& warp, const Instruction& ins, Access& a) {
  AllocationCache::Range& known =
      warp.block->ranges.of(ins.site, Allocations::version());
  if (!a.is_within(known.begin, known.end))
    find_allocations(warp, ins, a, known);
  else if (known.others())
    meet_others(warp, ins, a, a.mask, known);
  a.base = reinterpret_cast<uint8_t*>(known.distance);
  // The observers look first, and meanwhile memory answers.
  __builtin_prefetch(a.at<uint8_t>(0));
  __builtin_prefetch(a.at<uint8_t>(kLanes - 1));
}

uint64_t rank_of(uint64_t shared_address) {
  return (shared_address & ~kWindowMask) >> kRankShift;
}

// The lanes that mean the same block's shared memory as the first; the others
// wait for the next round.
void choose_owner(Access& a, uint64_t rank) {
  for (int l = 0; l < kLanes; ++l)
    if (rank_of(a.address[l]) != rank) a.mask &= ~(1u << l);
  a.dense &= a.mask == kAllLanes;
  const uint64_t filler = a.address[first_lane(a.mask)];
  for (int l = 0; l < kLanes; ++l) {
    if (!(a.mask >> l & 1)) a.address[l] = filler;
    a.address[l] -= rank << kRankShift;
  }
}

// Another block of the cluster has it.
void place_elsewhere(Warp& warp, const Instruction& ins, Access& a) {
  const int lane = first_lane(a.mask);
  const std::string whose =
      ": it is that of block " + triple(a.owner->id) + " of the cluster";
  if (a.operand.space == Space::kShared)
    report(warp, ins, a, lane, "out of bounds", kIllegalAddress,
           whose +
               ", which .shared does not reach: generic addresses and "
               ".shared::cluster do");
  if (a.owner->live == 0)
    report(warp, ins, a, lane, "block ended", kLaunchFailure,
           whose +
               ", which has ended. Its threads must wait at the cluster's "
               "barrier until the others are done with it");
  a.base = a.owner->shared.data();
}

// By itself: most launches have no clusters.
[[gnu::noinline]] void place_in_cluster(Warp& warp, const Instruction& ins,
                                        Access& a) {
  Block& block = *warp.block;
  const uint64_t rank = rank_of(a.address[first_lane(a.mask)]);
  if (rank >= block.cluster.size())
    report(warp, ins, a, first_lane(a.mask), "out of bounds", kIllegalAddress,
           ": the cluster has " + std::to_string(block.cluster.size()) +
               " blocks, and none of rank " + std::to_string(rank));
  choose_owner(a, rank);
  require_shared(warp, ins, a);
  a.owner = rank == block.rank ? nullptr : block.cluster[rank];
  if (a.owner) place_elsewhere(warp, ins, a);
}

void place_shared(Warp& warp, const Instruction& ins, Access& a) {
  Block& block = *warp.block;
  a.base = block.shared.data();
  if (a.is_within(0, block.shared_alone)) return;
  if (block.cluster.empty())
    require_shared(warp, ins, a);
  else
    place_in_cluster(warp, ins, a);
}

// A lane's address that is computed lies in the variables of a call, or it has
// left those that are nearest.
void require_variable(Warp& warp, const Instruction& ins, const Access& a,
                      int lane) {
  const uint64_t at = a.address[lane];
  const Variables* nearest = warp.variables;
  uint64_t least = ~0ull;
  for (const Variables* one = nearest; one; one = one->caller) {
    if (is_inside(at, a.bytes, one->begin, one->end)) return;
    const uint64_t away = at < one->begin ? one->begin - at : at - one->begin;
    if (one->begin == one->end || away >= least) continue;
    nearest = one;
    least = away;
  }
  report(warp, ins, a, lane, "out of bounds", kIllegalAddress,
         ": " +
             (at < nearest->begin
                  ? std::to_string(nearest->begin - at) + " bytes before"
                  : std::to_string(at - nearest->end) + " bytes behind") +
             " the " + std::to_string(nearest->end - nearest->begin) +
             " bytes of local memory of a function's variables");
}

// Most lanes mean variables of the same call: the one that runs, or a caller.
bool mean_one_calls(const Warp& warp, const Access& a) {
  for (const Variables* one = warp.variables; one; one = one->caller)
    if (a.is_within(one->begin, one->end)) return true;
  return false;
}

[[gnu::noinline, gnu::cold]] void require_variables(Warp& warp,
                                                    const Instruction& ins,
                                                    const Access& a) {
  for (uint32_t rest = a.mask; rest; rest &= rest - 1)
    require_variable(warp, ins, a, first_lane(rest));
}

// Lanes' stacks are interleaved: addresses become offsets in the warp's.
void place_local(Warp& warp, const Instruction& ins, Access& a) {
  a.dense = false;
  a.same = a.next = 0;
  a.base = warp.stack(0, 0);
  if (a.operand.base == kNowhere)  // relative to the current call's frame
    for (uint64_t& address : a.address) address += warp.stack_base;
  if (!a.is_within(0, warp.stack_end))
    require_inside(warp, ins, a, warp.stack_end, "thread", "local memory");
  if (a.operand.base != kNowhere && !mean_one_calls(warp, a))
    require_variables(warp, ins, a);
  for (int l = 0; l < kLanes; ++l)
    a.address[l] = Warp::stack_offset(l, a.address[l]);
}

// A kernel's parameters, at their address. All threads share them.
void place_parameter(Warp& warp, const Instruction& ins, Access& a) {
  AlignedBytes& parameters = warp.block->grid->parameters;
  a.base = parameters.data();
  require_inside(warp, ins, a, parameters.size(), "kernel", "parameters");
  if (a.use != Use::kLoad)
    report(warp, ins, a, first_lane(a.mask), "read only", kIllegalAddress,
           ": a kernel's parameters cannot be changed");
}

}  // namespace

void find_places(Warp& warp, const Instruction& ins, uint32_t mask,
                 uint32_t alignment, Access& a) {
  read_addresses(warp, mask, a);
  choose_space(a);
  uint64_t gaps = 0, low = 0;
  const uint64_t first = a.address[0];
  for (uint64_t l = 0; l < kLanes; ++l) {
    low |= a.address[l];
    gaps |= (a.address[l] - first) ^ l * a.bytes;
  }
  if (low & (alignment - 1)) check_alignment(warp, ins, a, alignment);
  a.dense = a.mask == kAllLanes && gaps == 0;
  a.compare_neighbours();
  switch (a.space) {
    case Space::kShared:
      return place_shared(warp, ins, a);
    case Space::kCluster:
      a.space = Space::kShared;
      return place_shared(warp, ins, a);
    case Space::kLocal:
      return place_local(warp, ins, a);
    case Space::kParam:
      return place_parameter(warp, ins, a);
    default:
      return place_global(warp, ins, a);
  }
}

void find_global(Warp& warp, const Instruction& ins, int lane, uint64_t address,
                 Access& a) {
  std::fill_n(a.address, kLanes, address);
  a.mask = 1u << lane;
  place_global(warp, ins, a);
}

void resolve(Warp& warp, const Instruction& ins, uint32_t mask, Access& a) {
  find_places(warp, ins, mask, a.bytes, a);
  if (a.space == Space::kShared || a.space == Space::kGlobal)
    observe::access(warp, ins, a);
  else
    observe::private_access(warp, ins, a);
}

namespace {

// Of 128 bits.
using Wide = unsigned __int128;

template <class T>
uint64_t folded(T value) {
  return static_cast<uint64_t>(value);
}
uint64_t folded(Wide value) {
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

// What other threads of the host may do the same with.
template <class T>
T read_atomically(const T* from) {
  return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}
template <class T>
void write_atomically(T* to, T value) {
  __atomic_store_n(to, value, __ATOMIC_RELEASE);
}
// x86 has one instruction for so much, and that writes, too.
Wide swap_atomically(Wide* at, Wide expected, Wide wanted) {
  return __sync_val_compare_and_swap(at, expected, wanted);
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

template <class Memory, class Register>
void load(Warp& warp, const Instruction& ins, uint32_t mask) {
  const int count = ins.result_count;
  for (Access a(ins.address(), sizeof(Memory) * count, Use::kLoad); mask;
       mask &= ~a.mask) {
    resolve(warp, ins, mask, a);
    const bool atomic = is_shared_with_threads(ins, a);
    for (int k = 0; k < count; ++k) {
      if (ins.result(k) == kNowhere) continue;
      Register* to = lanes<Register>(warp, ins.result(k));
      if (a.dense && !atomic) {
        const Memory* from = a.at<const Memory>(0) + k;
        if (count == 1)
          for (int l = 0; l < kLanes; ++l) to[l] = Register(from[l]);
        else
          for (int l = 0; l < kLanes; ++l) to[l] = Register(from[l * count]);
        continue;
      }
      if (!atomic && load_spans<Memory>(a, k, count, to)) continue;
      for (uint32_t rest = a.mask; rest; rest &= rest - 1) {
        const int l = first_lane(rest);
        const Memory* from = a.at<const Memory>(l) + k;
        to[l] = Register(atomic ? read_atomically(from) : *from);
      }
    }
    if (ins.kind == Kind::kPoll && ins.result(0) != kNowhere)
      warp.poll.found(fingerprint(a, lanes<Register>(warp, ins.result(0))));
  }
}

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
void store(Warp& warp, const Instruction& ins, uint32_t mask) {
  const int count = ins.source_count;
  for (Access a(ins.address(), sizeof(Memory) * count, Use::kStore); mask;
       mask &= ~a.mask) {
    resolve(warp, ins, mask, a);
    if (warp.block->quiet && changes<Memory, Register>(warp, ins, a))
      warp.block->quiet = false;
    const bool atomic = is_shared_with_threads(ins, a);
    for (int k = 0; k < count; ++k) {
      const Register* from = lanes<Register>(warp, ins.source(k));
      if (a.dense && !atomic) {
        Memory* to = a.at<Memory>(0) + k;
        if (count == 1)
          for (int l = 0; l < kLanes; ++l) to[l] = Memory(from[l]);
        else
          for (int l = 0; l < kLanes; ++l) to[l * count] = Memory(from[l]);
        continue;
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
  }
}

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

}  // namespace

Space space_of(const Statement& s) {
  for (const std::string& part : s.op) {
    if (part == "global") return Space::kGlobal;
    if (part == "shared::cluster") return Space::kCluster;
    if (part.rfind("shared", 0) == 0) return Space::kShared;
    if (part == "local") return Space::kLocal;
    if (part == "const") return Space::kConst;
    if (part.rfind("param", 0) == 0) return Space::kParam;
  }
  return Space::kGeneric;
}

namespace {

Strength strength_of(const Statement& s) {
  if (s.has("relaxed") || s.has("acquire") || s.has("release") || s.has("mmio"))
    return Strength::kStrong;
  return s.has("volatile") || s.has("cv") ? Strength::kVolatile
                                          : Strength::kWeak;
}

void decode_scope(const Statement& s, Draft& ins) {
  ins.for_block = s.has("cta");
  ins.for_cluster = s.has("cluster");
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
  int width = 0;
  for (const std::string& name : names) {
    Operand one;
    one.text = name;
    const int w = operands.width(one);
    if (w && width && w != width) throw Error("registers of different widths");
    if (w) width = w;
  }
  if (width == 0) width = std::max<int>(type.bytes, 2);  // Numbers.
  for (const std::string& name : names) {
    Operand one;
    one.text = name;
    if (is_store)
      ins.read.push_back(operands.source(one, width));
    else
      ins.written.push_back(operands.destination(one));
  }
  (is_store ? ins.from_bytes : ins.to_bytes) = static_cast<uint8_t>(width);
  ins.run = is_store ? access_handler<Store>(type, width)
                     : access_handler<Load>(type, width);
}

// ---- atomics -------------------------------------------------------------

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
// The sum of two 16-bit floats is exact in a double, or so lopsided that the
// larger one is the rounded sum: one rounding is enough.
struct Half {
  uint16_t bits;
};
struct Bfloat {
  uint16_t bits;
};
Half add(Half a, Half b, Space) {
  const double sum = double{std::bit_cast<_Float16>(a.bits)} +
                     double{std::bit_cast<_Float16>(b.bits)};
  if (sum != sum) return {0x7fff};
  return {std::bit_cast<uint16_t>(static_cast<_Float16>(sum))};
}
Bfloat add(Bfloat a, Bfloat b, Space) {
  const float sum = std::bit_cast<float>(uint32_t{a.bits} << 16) +
                    std::bit_cast<float>(uint32_t{b.bits} << 16);
  if (sum != sum) return {0x7fff};
  const uint32_t bits = std::bit_cast<uint32_t>(sum);
  return {static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}
float value_of(Half a) { return std::bit_cast<_Float16>(a.bits); }
float value_of(Bfloat a) {
  return std::bit_cast<float>(uint32_t{a.bits} << 16);
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
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bfloat>)
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
      return atomic<Half>;
    case 'x':
      return atomic<Pair<Half>>;
    case 'y':
      return atomic<Bfloat>;
    case 'z':
      return atomic<Pair<Bfloat>>;
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
      return reduce<Half>;
    case 'y':
      return reduce<Bfloat>;
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

namespace {

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
  return type.is('h') || type.is('x') ? vector_atomic<Half>
                                      : vector_atomic<Bfloat>;
}

void decode_vector(const Statement& s, OperandReader& operands, Draft& ins) {
  const auto named = [](const std::string& name) {
    Operand one;
    one.text = name;
    return one;
  };
  if (s.name() == "atom")
    for (const std::string& name : s.operands.front().list)
      ins.written.push_back(operands.destination(named(name)));
  for (const std::string& name : s.operands.back().list)
    ins.read.push_back(operands.source(named(name), s.type().bytes));
  ins.run = vector_handler(s.type());
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

// ---- address spaces ------------------------------------------------------

constexpr uint64_t window_of(Space space) {
  return space == Space::kShared || space == Space::kCluster ? kSharedWindow
         : space == Space::kLocal                            ? kLocalWindow
         : space == Space::kParam                            ? kParamWindow
                                                             : 0;
}

// Generic addresses of those in a space.
template <Space space>
void to_generic(Warp& warp, const Instruction& ins, uint32_t mask) {
  map_lanes(
      mask, lanes<uint64_t>(warp, ins.result(0)),
      [](uint64_t a) { return a + window_of(space); },
      lanes<uint64_t>(warp, ins.source(0)));
}

// What is no pointer into the space becomes an address far outside of it.
template <Space space>
void from_generic(Warp& warp, const Instruction& ins, uint32_t mask) {
  map_lanes(
      mask, lanes<uint64_t>(warp, ins.result(0)),
      [](uint64_t a) { return a - window_of(space); },
      lanes<uint64_t>(warp, ins.source(0)));
}

// The window of kernel parameters is part of the global one (PTX ISA, "generic
// addressing").
bool is_in_space(uint64_t address, Space space, const Block& block) {
  const uint64_t window = address & kWindowMask;
  if (space == Space::kShared && window == kSharedWindow)
    return rank_of(address) == block.rank;
  if (space != Space::kGlobal && space != Space::kConst)
    return window == window_of(space);
  if (window == kParamWindow) return space == Space::kGlobal;
  const auto found = allocations().find(address);
  const bool constant = found && found->memory == Memory::kConstant;
  return window == 0 && constant == (space == Space::kConst);
}

template <Space space>
void find_space(Warp& warp, const Instruction& ins, uint32_t mask) {
  const uint64_t* address = lanes<uint64_t>(warp, ins.source(0));
  uint32_t yes = 0;
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    if (is_in_space(address[first_lane(rest)], space, *warp.block))
      yes |= rest & -rest;
  write_predicate(warp, ins.result(0), yes, mask);
}

struct OfSpace {
  Handler to_generic, from_generic, find;
};
template <Space space>
constexpr OfSpace kOfSpace = {to_generic<space>, from_generic<space>,
                              find_space<space>};

const OfSpace& of_space(Space space) {
  switch (space) {
    case Space::kShared:
      return kOfSpace<Space::kShared>;
    case Space::kCluster:
      return kOfSpace<Space::kCluster>;
    case Space::kLocal:
      return kOfSpace<Space::kLocal>;
    case Space::kConst:
      return kOfSpace<Space::kConst>;
    case Space::kParam:
      return kOfSpace<Space::kParam>;
    default:
      return kOfSpace<Space::kGlobal>;
  }
}

// Where another block of the cluster has what this one has at an address.
template <class T>
void map_to_rank(Warp& warp, const Instruction& ins, uint32_t mask) {
  const uint32_t blocks = warp.block->grid->shape.cluster_blocks();
  map_lanes(
      mask, lanes<T>(warp, ins.result(0)),
      [&](T address, uint32_t rank) {
        const T place = address & ~(T{kNoRank} << kRankShift);
        return place | T{rank < blocks ? rank : kNoRank} << kRankShift;
      },
      lanes<T>(warp, ins.source(0)), lanes<uint32_t>(warp, ins.source(1)));
}

template <class T>
void get_rank(Warp& warp, const Instruction& ins, uint32_t mask) {
  map_lanes(
      mask, lanes<uint32_t>(warp, ins.result(0)),
      [](T address) { return static_cast<uint32_t>(rank_of(address)); },
      lanes<T>(warp, ins.source(0)));
}

void decode_rank(const Statement& s, OperandReader& operands, Draft& ins) {
  const bool wide = s.type().bytes == 8;
  ins.written = {operands.destination(s.operands.at(0))};
  ins.read = {operands.source(s.operands.at(1), s.type().bytes)};
  ins.pure = true;
  if (s.name() == "getctarank") {
    ins.run = wide ? get_rank<uint64_t> : get_rank<uint32_t>;
    return;
  }
  ins.read.push_back(operands.source(s.operands.at(2), 4));
  ins.run = wide ? map_to_rank<uint64_t> : map_to_rank<uint32_t>;
}

void nothing(Warp&, const Instruction&, uint32_t) {}

// What programs hand on, and nobody looks into: the same for all of them.
void create_policy(Warp& warp, const Instruction& ins, uint32_t mask) {
  constexpr uint64_t kPolicy = 1ull << 60;
  map_indices(mask, lanes<uint64_t>(warp, ins.result(0)),
              [](int) { return kPolicy; });
}

// A write of nobody knows what (PTX ISA, "discard").
void discard(Warp& warp, const Instruction& ins, uint32_t mask) {
  for (Access a(ins.address(), kDiscarded, Use::kStore); mask;
       mask &= ~a.mask) {
    find_places(warp, ins, mask, kDiscarded, a);
    observe::discard(warp, ins, a);
  }
}

void decode_discard(const Statement& s, Draft& ins) {
  if (parse_literal(s.operands.at(1).text).value().bits != kDiscarded)
    throw Error("it discards " + std::to_string(kDiscarded) + " bytes");
  ins.accessed.at(0).space = Space::kGlobal;
  ins.spread = Spread::kAccess;
  ins.run = discard;
}

// For the threads of the host; for the checker, which must know that it was
// there; and a wait may consist of it, with a load that reads anew behind it.
void fence(Warp& warp, const Instruction& ins, uint32_t mask) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  observe::fence(warp, ins, mask);
  warp.poll.found(0);
}

void fence_for_copies(Warp& warp, const Instruction&, uint32_t) {
  observe::fence_for_copies(warp);
}

void fence_inits(Warp& warp, const Instruction&, uint32_t) {
  observe::fence_inits(warp);
}

// Kernels run one after the other, so that there is nothing to wait for.
void wait_for_front(Warp& warp, const Instruction&, uint32_t mask) {
  observe::wait_for_front(warp, mask);
}

void let_next_begin(Warp& warp, const Instruction&, uint32_t mask) {
  observe::let_next_begin(warp, mask);
}

void sleep(Warp& warp, const Instruction&, uint32_t) { warp.poll.slept = true; }

}  // namespace

bool decode_memory(const Statement& s, OperandReader& operands, Draft& ins) {
  const std::string& op = s.name();
  if ((op == "st" || op == "red") && s.has("async")) return false;
  if (op == "ld" || op == "ldu" || op == "st") {
    decode_access(s, operands, ins);
  } else if (op == "atom" || op == "red") {
    decode_atomic(s, operands, ins);
  } else if (op == "cvta") {
    const OfSpace& handlers = of_space(space_of(s));
    const bool same = window_of(space_of(s)) == 0;
    ins.written = {operands.destination(s.operands.at(0))};
    ins.read = {operands.source(s.operands.at(1), 8)};
    ins.pure = true;
    ins.run = same          ? copy_handler(8)
              : s.has("to") ? handlers.from_generic
                            : handlers.to_generic;
  } else if (op == "mapa" || op == "getctarank") {
    decode_rank(s, operands, ins);
  } else if (op == "isspacep") {
    ins.written = {operands.predicate(s.operands.at(0).text)};
    ins.read = {operands.source(s.operands.at(1), 8)};
    ins.run = of_space(space_of(s)).find;
  } else if (op == "fence" && s.has("proxy")) {
    // For tensor maps nothing waits: each copy reads its own as it is. And an
    // alias is the same memory here at once.
    ins.run = s.has("async") ? fence_for_copies : nothing;
  } else if (op == "fence" && s.has("mbarrier_init")) {
    ins.run = fence_inits;
  } else if (op == "membar" || op == "fence") {
    decode_scope(s, ins);
    ins.kind = Kind::kPoll;
    ins.run = fence;
  } else if (op == "nanosleep") {
    ins.kind = Kind::kPoll;
    ins.run = sleep;
  } else if (op == "griddepcontrol") {
    ins.run = s.has("wait") ? wait_for_front : let_next_begin;
  } else if (op == "prefetch" || op == "prefetchu" || op == "applypriority" ||
             op == "pmevent") {
    ins.run = nothing;  // Hints, and what profilers watch.
  } else if (op == "createpolicy") {
    ins.written = {operands.destination(s.operands.at(0))};
    ins.accessed.clear();  // The memory it is for stays untouched.
    ins.pure = true;
    ins.run = create_policy;
  } else if (op == "discard") {
    decode_discard(s, ins);
  } else {
    return false;
  }
  return true;
}

}  // namespace simt
