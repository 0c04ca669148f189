// Undefined values that asynchronous copies carry on, and memory whose values
// are given up.
#include <optional>

#include "common/simt/observe/tainted.h"
#include "common/simt/observe/values.h"
#include "common/simt/observe/written_memory.h"

namespace simt {

void Values::begin(const AsyncCopy& copy) {
  Warp& warp = *copy.warp;
  if (!warp.tainted) return;
  for (Place p : copy.ins->sources())
    use(warp, *copy.ins, p, copy.to.mask,
        copy.taken ? "It is stored" : "It says how much is copied");
}

void Values::end(const AsyncCopy& copy, uint32_t mask) {
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const int l = first_lane(rest);
    const uint64_t source = copy.box    ? copy.box->begin
                            : copy.from ? copy.from->address[l]
                                        : 0;
    if (copy.to.space == Space::kGlobal)
      store_bulk(copy, l);
    else if (copy.from && copy.from->space == Space::kShared)
      end(copy, l, shared_memory(*copy.warp->block->checks));
    else if (copy.from && allocations().in_arena(source))
      end(copy, l, device_memory(allocations()));
    else
      end(copy, l, host_memory());
  }
}

// What nobody has written is no more written where it is copied to.
template <class Set>
void Values::end(const AsyncCopy& copy, int lane,
                 const WrittenMemory<Set>& from) {
  const Block& home = copy.to.owner ? *copy.to.owner : *copy.warp->block;
  BlockChecks& checks = *home.checks;
  const WrittenMemory<ByteSet> to = shared_memory(checks);
  copy.each_part(copy.to, [&](const Access& part) {
    const uint64_t at = part.address[lane];
    if (copy.reduction && !to.is_written(at, part.bytes))
      tell_unwritten(*copy.warp, *copy.ins, lane, Space::kShared, at, "atomic",
                     part.bytes, "");
    to.write(at, part.bytes);
  });
  const auto thread = static_cast<uint16_t>(copy.warp->index * kLanes + lane);
  copy.each_move(lane, [&](uint64_t source, uint64_t target, uint32_t bytes) {
    if (from.is_written(source, bytes)) return;
    for (uint32_t k = 0; k < bytes; ++k) {
      if (from.is_written(source + k, 1)) continue;
      to.unwrite(target + k);
      checks.copies.set(target + k, {{source + k, copy.ins->site, thread, 1,
                                      false, Space::kGlobal},
                                     255});
    }
  });
}

// From shared to global memory, where what nobody has written is an error.
void Values::store_bulk(const AsyncCopy& copy, int lane) {
  copy.each_move(lane, [&](uint64_t from, uint64_t to, uint32_t bytes) {
    store_bulk(copy, lane, from, to, bytes);
  });
}

void Values::store_bulk(const AsyncCopy& copy, int lane, uint64_t from,
                        uint64_t to, uint32_t bytes) {
  const auto source = shared_memory(*copy.warp->block->checks);
  const auto target = device_memory(allocations());
  const bool is_known = allocations().in_arena(to);
  if (!copy.taken && !source.is_written(from, bytes))
    tell_unwritten(*copy.warp, *copy.ins, lane, Space::kShared,
                   source.first_missing(from), "read", bytes, "It is stored");
  else if (copy.reduction && is_known && !target.is_written(to, bytes))
    tell_unwritten(*copy.warp, *copy.ins, lane, Space::kGlobal, to, "atomic",
                   bytes, "");
  if (is_known) target.write(to, bytes);
}

void Values::forget(const Warp& warp, const Access& a) {
  for (uint32_t rest = a.mask; rest; rest &= rest - 1) {
    const uint64_t at = a.address[first_lane(rest)];
    warp.block->checks->written.erase(at, at + a.bytes);
  }
}

void Values::discard(const Access& a) {
  Allocations& all = allocations();
  for (uint32_t rest = a.mask; rest; rest &= rest - 1) {
    const uint64_t at = a.address[first_lane(rest)];
    const std::optional<Allocation> found = all.find(at);
    // What the host may write unseen counts as written.
    if (!found || !found->is_device_only() || found->adopted) continue;
    const uint64_t begin = at - all.arena_begin();
    all.written().erase(begin, begin + a.bytes);
  }
}

}  // namespace simt
