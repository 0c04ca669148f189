// Finds where lanes mean to go, and ends a kernel that must not go there: out
// of bounds, misaligned, freed, another device's, of a block that has ended.
#include "common/simt/isa/memory/places.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "common/simt/core/finding.h"
#include "common/simt/core/lanes.h"
#include "common/simt/memory/allocations.h"
#include "common/simt/memory/peers.h"
#include "common/simt/observe/observers.h"

namespace simt {
namespace {

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

// ---- Global memory ---------------------------------------------------------

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

bool is_of_host(const Allocation& one) {
  return !one.is_device_only() || one.adopted;
}
bool is_of_peer(const Allocation& one, int device) {
  return !is_of_host(one) && one.device != device;
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

// Where x[i - 1u] would lie with i = 0, if 0 - 1u were -1: close in front of an
// array, or in one.
std::optional<uint64_t> below_zero(uint64_t address, uint64_t bytes) {
  const uint64_t meant = address - (bytes << 32);
  for (const uint64_t behind : {uint64_t{0}, bytes, 32 * bytes, 1024 * bytes})
    if (meant < address && allocations().find(meant + behind)) return meant;
  return {};
}

// A pointer of the host's was passed on: to an array, by a reference, or to
// what the host has in place of a device variable. Or malloc returned none.
std::string what_helps(uint64_t address, uint64_t bytes, int device) {
  if (allocations().is_host_memory(address, bytes))
    return ". Kernels cannot reach that. Copy it to an array from cudaMalloc, "
           "pass objects by value, and ask cudaGetSymbolAddress where a "
           "__device__ variable lies";
  if (const auto meant = below_zero(address, bytes))
    return ". 2^32 elements before that is " + allocations().describe(*meant) +
           ": an unsigned index below 0 wraps around";
  const uint64_t heap = allocations().exhausted_heap(device);
  if (address != 0 || heap == 0) return "";
  return ". A malloc or new in a kernel returned one, because the " +
         std::to_string(heap) +
         " bytes of the heap were in use, or it asked for more: free what is "
         "no longer needed, or raise cudaLimitMallocHeapSize";
}

// The allocation that a lane means, which its kernel may touch as it wants to.
[[gnu::noinline]] Allocation require_allocation(Warp& warp,
                                                const Instruction& ins,
                                                const Access& a, int lane) {
  const Allocations& all = allocations();
  const int here = warp.block->grid->shape.device;
  const uint64_t from = a.address[lane];
  const auto refuse = [&](const char* kind, const std::string& why) {
    report(warp, ins, a, lane, kind, kIllegalAddress,
           ": " + why + all.describe(from) + what_helps(from, a.bytes, here));
  };
  const std::optional<Allocation> found = all.find(from);
  if (found && found->freed) refuse("use after free", "");
  if (!found || !is_inside(from, a.bytes, found->begin, found->end))
    refuse("out of bounds", "");
  if (a.operand.space == Space::kConst && found->memory != Memory::kConstant)
    refuse("out of bounds", "no constant memory, but ");
  if (a.use != Use::kLoad && found->read_only)
    refuse("read only", "an input, which must stay as it is: ");
  if (is_of_peer(*found, here) && !may_touch(*found, here))
    report(warp, ins, a, lane, "no peer access", kIllegalAddress,
           ": " + all.describe(from) + ". Kernels of device " +
               std::to_string(here) + " may touch it " +
               what_allows(*found, here));
  return *found;
}

// Lanes in memory at another distance than the first's wait for the next round.
// By itself: mostly the allocation is the one of the last time.
[[gnu::noinline]] void find_allocations(Warp& warp, const Instruction& ins,
                                        Access& a,
                                        AllocationCache::Range& known) {
  const Allocations& all = allocations();
  uint32_t mask = 0;  // of lanes in `known`
  const uint64_t distance = all.distance(a.address[first_lane(a.mask)]);
  for (int l = 0; l < kLanes; ++l) {
    if (!(a.mask >> l & 1)) continue;
    const uint64_t from = a.address[l];
    const uint32_t me = 1u << l;
    if (all.distance(from) != distance) {
      a.mask &= ~me;
      a.dense = false;
      continue;
    }
    if (is_inside(from, a.bytes, known.begin, known.end)) {
      mask |= me;
      continue;
    }
    const Allocation found = require_allocation(warp, ins, a, l);
    if (mask && known.others()) meet_others(warp, ins, a, mask, known);
    mask = me;
    known = {found.begin,
             found.end,
             distance,
             is_of_host(found),
             is_of_peer(found, warp.block->grid->shape.device),
             found.device};
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

// ---- Shared memory ---------------------------------------------------------

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

// ---- Local memory and parameters -------------------------------------------

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
                  : std::to_string(at - nearest->end) + " bytes past") +
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

// The word around a byte: only that is there for the program. Of two bytes, the
// first stands for both.
[[gnu::noinline]] void resolve_word(Warp& warp, const Instruction& ins,
                                    uint32_t mask, Access& a) {
  Address meant = a.operand;
  meant.base = std::exchange(meant.meant, kNowhere);
  Access byte(meant, 1, a.use);
  resolve(warp, ins, mask, byte);
  a.mask = byte.mask;
  a.space = byte.space;
  a.base = byte.base;
  a.owner = byte.owner;
  for (int l = 0; l < kLanes; ++l)
    a.address[l] = byte.address[l] & ~uint64_t{a.bytes - 1};
  a.dense = false;
  a.compare_neighbours();
}

void resolve(Warp& warp, const Instruction& ins, uint32_t mask, Access& a) {
  if (a.operand.meant != kNowhere) return resolve_word(warp, ins, mask, a);
  find_places(warp, ins, mask, a.bytes, a);
  if (a.space == Space::kShared || a.space == Space::kGlobal)
    observe::access(warp, ins, a);
  else
    observe::private_access(warp, ins, a);
}

}  // namespace simt
