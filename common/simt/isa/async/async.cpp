// Asynchronous copies: how they begin, and who waits for them.
#include "common/simt/isa/async/async.h"

#include <algorithm>
#include <cstring>

#include "common/simt/core/block.h"
#include "common/simt/core/finding.h"
#include "common/simt/core/lanes.h"
#include "common/simt/core/literals.h"
#include "common/simt/isa/memory/places.h"
#include "common/simt/observe/observers.h"

namespace simt {
namespace {

// ---- Waiting -------------------------------------------------------------

// Makes the copies of some lanes.
void make(AsyncCopy& copy, uint32_t mask) {
  observe::copied(copy, mask);
  const uint32_t bytes = copy.from ? copy.from->bytes : 0;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const int l = first_lane(rest);
    uint8_t* const to = copy.to.at<uint8_t>(l);
    if (bytes) std::memcpy(to, copy.from->at<uint8_t>(l), bytes);
    std::memset(to + bytes, 0, copy.to.bytes - bytes);
  }
  copy.to.mask &= ~mask;
  copy.warp->block->quiet = false;
}

// Makes all that lanes of `mask` have begun, if is_meant(copy, lane).
template <class IsMeant>
void make_those(Warp& warp, uint32_t mask, IsMeant is_meant) {
  std::list<AsyncCopy>& pending = warp.block->copies.pending;
  for (auto copy = pending.begin(); copy != pending.end();) {
    uint32_t meant = 0;
    for (uint32_t rest = copy->to.mask & mask; rest; rest &= rest - 1)
      if (copy->warp == &warp && !copy->is_bulk() &&
          is_meant(*copy, first_lane(rest)))
        meant |= rest & -rest;
    if (meant) make(*copy, meant);
    copy = copy->to.mask ? std::next(copy) : pending.erase(copy);
  }
}

}  // namespace

void make_copies(Warp& warp, uint32_t mask, uint64_t behind) {
  make_those(warp, mask,
             [&](const AsyncCopy& copy, int) { return copy.number < behind; });
}

namespace {

void wait_for_groups(Warp& warp, const Instruction& ins, uint32_t mask) {
  const uint32_t* but = lanes<uint32_t>(warp, ins.source(0));
  make_those(warp, mask, [&](const AsyncCopy& copy, int lane) {
    return uint64_t{copy.group[lane]} + but[lane] < warp.copy_groups[lane];
  });
}

void wait_for_all(Warp& warp, const Instruction&, uint32_t mask) {
  make_those(warp, mask, [](const AsyncCopy&, int) { return true; });
}

void close_group(Warp& warp, const Instruction&, uint32_t mask) {
  for (int l = 0; l < kLanes; ++l) warp.copy_groups[l] += mask >> l & 1;
}

// ---- Beginning -----------------------------------------------------------

// How many bytes each lane takes from its source; zeros follow them.
void read_sizes(Warp& warp, const Instruction& ins, uint32_t mask,
                uint32_t* sizes) {
  const uint32_t all = ins.element_bytes;
  std::fill_n(sizes, kLanes, all);
  if (ins.source_count == 0) return;
  if (ins.from_bytes == 0) {
    const uint32_t ignored = read_predicate(warp, ins, 0);
    for (int l = 0; l < kLanes; ++l)
      if (ignored >> l & 1) sizes[l] = 0;
    return;
  }
  const uint32_t* wanted = lanes<uint32_t>(warp, ins.source(0));
  std::copy_n(wanted, kLanes, sizes);
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    if (const int l = first_lane(rest); wanted[l] > all)
      fault(warp, ins, l, "bad copy",
            "it copies " + std::to_string(all) + " bytes, and takes " +
                std::to_string(wanted[l]) + " of them from its source",
            kLaunchFailure);
}

// Begins to copy for lanes of `mask`, which all take `bytes` of their source;
// returns those of them whose memory could be found at once.
uint32_t begin(Warp& warp, const Instruction& ins, uint32_t mask,
               uint32_t bytes, bool bypasses) {
  const uint32_t all = ins.element_bytes;
  std::optional<Access> from;
  if (bytes) {
    from.emplace(ins.addresses()[1], bytes, Use::kLoad);
    find_places(warp, ins, mask, all, *from);
    mask = from->mask;
  }
  Access to(ins.addresses()[0], all, Use::kStore);
  find_places(warp, ins, mask, all, to);
  AsyncCopy& copy = warp.block->copies.pending.emplace_back(warp, ins, to);
  if (from) copy.from.emplace(*from);
  copy.number = warp.block->copies.begun++;
  copy.bypasses = bypasses;
  std::copy_n(warp.copy_groups, kLanes, copy.group);
  observe::copies(copy);
  return mask;
}

template <bool bypasses>
void copy(Warp& warp, const Instruction& ins, uint32_t mask) {
  uint32_t sizes[kLanes];
  read_sizes(warp, ins, mask, sizes);
  while (mask) {
    const uint32_t bytes = sizes[first_lane(mask)];
    mask &= ~begin(warp, ins, lanes_with(bytes, sizes, mask), bytes, bypasses);
  }
}

// ---- Decoding ------------------------------------------------------------

void decode_copy(const Statement& s, OperandReader& operands, Draft& ins) {
  const uint64_t size = parse_literal(s.operands.at(2).text).value().bits;
  if (size != 16 && (s.has("cg") || (size != 4 && size != 8)))
    throw Error(s.has("cg") ? "it copies 16 bytes" : "it copies 4, 8 or 16");
  ins.element_bytes = static_cast<uint8_t>(size);
  ins.accessed.at(0).space = Space::kShared;
  ins.accessed.at(1).space = Space::kGlobal;
  ins.spread = Spread::kAccess;
  ins.run = s.has("cg") ? copy<true> : copy<false>;
  if (s.operands.size() == 3) return;
  const Operand& taken = s.operands[3];
  if (operands.is_predicate(taken.text)) {
    ins.read = {operands.predicate(taken.text)};
    if (taken.negated) ins.invert_last();
  } else {
    ins.read = {operands.source(taken, 4)};
    ins.from_bytes = 4;
  }
}

}  // namespace

bool decode_async(const Statement& s, OperandReader& operands, Draft& ins) {
  if (s.name() != "cp") return false;
  if (s.has("commit_group")) {
    ins.run = close_group;
  } else if (s.has("wait_all")) {
    ins.run = wait_for_all;
  } else if (s.has("wait_group")) {
    ins.read = {operands.source(s.operands.at(0), 4)};
    ins.run = wait_for_groups;
  } else {
    decode_copy(s, operands, ins);
  }
  return true;
}

}  // namespace simt
