// Asynchronous copies as the checker sees them: from their beginning to their
// end they are at bytes that nobody else may touch; then they are accesses of
// the thread that asked for them, like others.
#include <algorithm>

#include "common/simt/core/grid.h"
#include "common/simt/observe/bytes.h"
#include "common/simt/observe/checker.h"
#include "common/simt/observe/places.h"

namespace simt {
namespace {

// f(piece) for the bytes of lanes of `mask`, up to 16 of each lane at once, as
// many as an access can have.
template <class F>
void each_piece(const Access& a, uint32_t mask, F f) {
  for (uint32_t at = 0; at < a.bytes;) {
    const uint32_t bytes = std::min(16u, std::bit_floor(a.bytes - at));
    Access piece(a.operand, bytes, a.use);
    for (int l = 0; l < kLanes; ++l) piece.address[l] = a.address[l] + at;
    piece.base = a.base;
    piece.mask = a.mask & mask;
    piece.space = a.space;
    piece.owner = a.owner;
    piece.dense = a.dense && bytes == a.bytes && piece.mask == kAllLanes;
    if (piece.mask) f(piece);
    at += bytes;
  }
}

// The block whose shared memory it reads or writes.
Block& home_of(const AsyncCopy& copy) {
  return copy.to.owner ? *copy.to.owner : *copy.warp->block;
}

void set_busy(ByteSet& busy, const AsyncCopy& copy, const Access& a,
              uint32_t mask, bool is_busy) {
  if (a.space != Space::kShared) return;
  copy.each_part(a, [&](const Access& part) {
    for (uint32_t rest = part.mask & mask; rest; rest &= rest - 1) {
      const Bytes one = bytes_of(part, first_lane(rest));
      is_busy ? busy.insert(one.begin, one.end)
              : busy.erase(one.begin, one.end);
    }
  });
}

// As PTX calls it, without its modifiers.
std::string name_of(const AsyncCopy& copy) {
  const char* of_tensor = copy.box ? ".tensor" : "";
  if (copy.is_bulk() && !copy.from)
    return copy.reduction ? "red.async" : "st.async";
  return copy.reduction   ? std::string("cp.reduce.async.bulk") + of_tensor
         : copy.is_bulk() ? std::string("cp.async.bulk") + of_tensor
                          : "cp.async";
}

// The same of bytes that a copy of these lanes is no longer at, unless another
// one is there, too.
void set_free(ByteSet& busy, const AsyncCopy& copy, const Access& a,
              uint32_t mask) {
  if (a.space != Space::kShared) return;
  set_busy(busy, copy, a, mask, false);
  const auto again = [&](const AsyncCopy& other, const Access& b) {
    const uint32_t left = other.to.mask & ~(&other == &copy ? mask : 0);
    const bool apart = !copy.box && !other.box && !hull_of(a).meets(hull_of(b));
    if (left && !apart) set_busy(busy, other, b, left, true);
  };
  for (const AsyncCopy& other : home_of(copy).copies.pending) {
    again(other, other.to);
    if (other.from && !other.taken && &*other.from != &a)
      again(other, *other.from);
  }
}

// Copies begin and end at multiples of 4.
bool any_busy(const ByteSet& busy, const Access& a) {
  for (uint32_t rest = a.mask; rest; rest &= rest - 1) {
    const uint64_t begin = a.address[first_lane(rest)];
    for (uint64_t at = begin; at < begin + a.bytes; at += 4)
      if (busy.contains(at)) return true;
  }
  return false;
}

}  // namespace

void Checker::begin(const AsyncCopy& copy) {
  enter_postponed(*copy.warp->block);
  ByteSet& busy = home_of(copy).checks->busy;
  values_.begin(copy);
  if (other_work_.is_asked()) other_work_.copy(copy);
  for (const Access* a : {copy.from ? &*copy.from : nullptr, &copy.to}) {
    if (!a) continue;
    if (a->space == Space::kShared && a->operand.array >= 0)
      check_array(*copy.warp, *copy.ins, *a);
    check_copy(copy, *a, kAllLanes, false);
  }
  if (copy.is_bulk() && copy.from && copy.from->space == Space::kShared)
    check_fence(copy);
  if (copy.from) set_busy(busy, copy, *copy.from, kAllLanes, true);
  set_busy(busy, copy, copy.to, kAllLanes, true);
}

void Checker::end(const AsyncCopy& copy, uint32_t mask) {
  enter_postponed(*copy.warp->block);
  ByteSet& busy = home_of(copy).checks->busy;
  set_free(busy, copy, copy.to, mask);
  if (copy.from && !copy.taken) {
    set_free(busy, copy, *copy.from, mask);
    check_copy(copy, *copy.from, mask, true);
  }
  check_copy(copy, copy.to, mask, true);
  values_.end(copy, mask);
}

void Checker::take(const AsyncCopy& copy) {
  set_free(copy.warp->block->checks->busy, copy, *copy.from, kAllLanes);
  check_copy(copy, *copy.from, kAllLanes, true);
}

void Checker::abandon(const AsyncCopy& copy) {
  const Instruction& ins = *copy.ins;
  if (found_.again("race", ins.site, ins.site)) return;
  const int lane = first_lane(copy.to.mask);
  Finding f = finding_at(
      *copy.warp, ins, lane, "race",
      "the block ends, and " + name_of(copy) +
          " may still read its shared memory: nobody has waited for that. The "
          "thread that began it needs cp.async.bulk.wait_group.read");
  f.address = copy.from->address[lane];
  found_.add("race", ins.site, ins.site, std::move(f));
}

// When it begins it may meet what came before; when it ends it may have met
// what came since, and what comes may meet it.
void Checker::check_copy(const AsyncCopy& copy, const Access& a, uint32_t mask,
                         bool ends) {
  if (races_.full()) return;
  const auto check = [&](const Access& piece) {
    Mine mine = races_.mine_of(*copy.warp, *copy.ins, piece);
    mine.copy = &copy;
    mine.enters = ends;
    if (!ends) {
      races_.settle_clashes(*copy.warp, piece);
      against_copies(mine);
    }
    races_.check(mine);
  };
  copy.each_part(a, [&](const Access& part) { each_piece(part, mask, check); });
}

// ---- Without a fence -----------------------------------------------------

// Bulk copies and wgmma see what threads have written to shared memory only
// behind a fence for them. Whose it is is not looked at. What cp.async has
// brought, CUTLASS and Triton hand to wgmma without one.
void Checker::check_fence(const AsyncCopy& copy) {
  bool told = false;
  const int lane = first_lane(copy.from->mask);
  const Reader reader{*copy.warp, *copy.ins, lane, name_of(copy)};
  copy.each_part(*copy.from, [&](const Access& part) {
    const Bytes from = bytes_of(part, lane);
    told = told || is_unfenced(reader, from.begin, from.end);
  });
}

bool Checker::is_unfenced(const Reader& reader, uint64_t begin, uint64_t end) {
  BlockChecks& checks = *reader.warp.block->checks;
  const auto unfenced = [&](Time time) -> const Event* {
    if (time < checks.order.fenced_for_copies) return nullptr;
    const Event* event = races_.log().find(time);
    if (!event || event->block != checks.order.number) return nullptr;
    const Statement& by = *grid_.program.instruction(event->site).statement;
    const bool is_handed_over =
        by.has("bulk") || (by.name() == "cp" && reader.multiplies());
    return is_handed_over ? nullptr : event;
  };
  for (uint64_t at = begin; at < end; at += Shadow::kWordBytes) {
    for (Time time : checks.shared.line(at).store)
      if (const Event* event = unfenced(time))
        if (Bytes{event->begin(), event->end()}.meets({at, at + 4}))
          return unfenced_write(reader, *event, event->lane_at(at), at), true;
    const Word* word = checks.shared.find_word(at);
    for (int k = 0; word && k < Word::kLoad; ++k)
      if (const Event* event = unfenced(word->at(k).time))
        return unfenced_write(reader, *event, word->at(k).lane, at), true;
  }
  return false;
}

void Checker::unfenced_write(const Reader& reader, const Event& event,
                             int other, uint64_t address) {
  const Instruction& ins = reader.ins;
  const Instruction& theirs = grid_.program.instruction(event.site);
  if (found_.again("race", ins.site, event.site)) return;
  Finding f = finding_at(reader.warp, ins, reader.lane, "race", "");
  place_other(grid_, f, theirs, event.block, event.warp * kLanes + other);
  f.address = address;
  f.message = reader.name + " reads " +
              text_of_place(grid_, Space::kShared, address) +
              ", which thread " + triple(f.other_thread) + " has written" +
              at_place(grid_, theirs) +
              ", and may find what was there before: between the two there is "
              "no fence.proxy.async. Each thread that writes needs one, before "
              "the barrier";
  found_.add("race", ins.site, event.site, std::move(f));
}

// ---- Touched too early ----------------------------------------------------

void Checker::against_copies(const Mine& mine) {
  const Access& a = mine.access;
  Block& block = a.owner ? *a.owner : *mine.warp.block;
  if (mine.stores && a.space == Space::kShared) against_products(mine, block);
  if (a.space == Space::kShared && !any_busy(block.checks->busy, a)) return;
  for (const AsyncCopy& copy : block.copies.pending) {
    if (&copy == mine.copy) continue;
    const bool both_reduce =
        copy.reduction && mine.ins.strength == Strength::kStrong;
    if (!both_reduce) against_copy(mine, copy, copy.to);
    if (mine.stores && copy.from && !copy.taken)
      against_copy(mine, copy, *copy.from);
  }
}

namespace {

// Do lanes of two copies bring the same to the same place?
bool same_copy(const AsyncCopy& one, int lane, const AsyncCopy& two,
               int other) {
  const bool zeros = !one.from && !two.from && !one.taken && !two.taken;
  const bool same = one.from && two.from &&
                    one.from->bytes == two.from->bytes &&
                    one.from->address[lane] == two.from->address[other];
  return (zeros || same) && one.to.address[lane] == two.to.address[other];
}

}  // namespace

// `a`: what the copy writes, or reads.
void Checker::against_copy(const Mine& mine, const AsyncCopy& copy,
                           const Access& a) {
  if (a.space != mine.access.space) return;
  const Bytes hull = hull_of(mine.access);
  if (copy.box && a.space == Space::kGlobal &&
      !hull.meets({copy.box->begin, copy.box->end}))
    return;
  copy.each_part(a, [&](const Access& part) {
    if (hull.meets(hull_of(part)))
      against_part(mine, copy, part, &a == &copy.to);
  });
}

void Checker::against_part(const Mine& mine, const AsyncCopy& copy,
                           const Access& a, bool is_target) {
  for (uint32_t rest = mine.access.mask; rest; rest &= rest - 1) {
    const int l = first_lane(rest);
    const Bytes my = bytes_of(mine.access, l);
    for (uint32_t theirs = copy.to.mask; theirs; theirs &= theirs - 1) {
      const int other = first_lane(theirs);
      const Bytes its = bytes_of(a, other);
      if (my.meets(its) &&
          !(mine.copy && same_copy(*mine.copy, l, copy, other)))
        return early(mine, l, copy, other, std::max(my.begin, its.begin),
                     is_target);
    }
  }
}

void Checker::early(const Mine& mine, int lane, const AsyncCopy& copy,
                    int other, uint64_t address, bool is_target) {
  if (found_.again("race", mine.ins.site, copy.ins->site)) return;
  Finding f = finding_at(mine.warp, mine.ins, lane, "race", "");
  place_other(grid_, f, *copy.ins, copy.warp->block->number,
              copy.warp->index * kLanes + other);
  f.address = address;
  f.message =
      std::string(verb(mine.access.use)) + " of " +
      std::to_string(mine.access.bytes) + " bytes of " +
      text_of_place(grid_, mine.access.space, address) + ": " +
      (is_target ? "copied by " : "read by ") + name_of(copy) +
      at_place(grid_, *copy.ins) + ", thread " + triple(f.other_thread) +
      ", not yet waited for. The copy is done " +
      (copy.of == AsyncCopy::Of::kBarrier
           ? "for threads that have waited at the mbarrier that it signals"
           : "when its thread has waited for it; other threads need a barrier "
             "after that");
  found_.add("race", mine.ins.site, copy.ins->site, std::move(f));
}

}  // namespace simt
