// Bulk copies: one thread asks for many bytes, which come or go at once.
#include <algorithm>
#include <cstring>

#include "common/simt/core/finding.h"
#include "common/simt/core/lanes.h"
#include "common/simt/isa/async.h"
#include "common/simt/isa/memory.h"
#include "common/simt/observe/observers.h"

namespace simt {
namespace {

constexpr uint32_t kUnit = 16;  // of addresses and sizes, in bytes

// ---- Beginning -----------------------------------------------------------

// What a lane means by one of its addresses.
Access find_place(Warp& warp, const Instruction& ins, int lane, int which,
                  uint32_t bytes, Use use) {
  Access a(ins.addresses()[which], bytes, use);
  find_places(warp, ins, 1u << lane, which < 2 ? kUnit : 8, a);
  if (a.owner)
    throw Error(warp.block->grid->program.location(ins.where) + ": " +
                ins.statement->text +
                " means another block of the cluster; the executor's bulk "
                "copies stay within their block");
  return a;
}

void begin(Warp& warp, const Instruction& ins, int lane) {
  const uint32_t bytes = lanes<uint32_t>(warp, ins.source(0))[lane];
  if (bytes % kUnit)
    fault(warp, ins, lane, "bad copy",
          "it copies " + std::to_string(bytes) + " bytes, and should a " +
              "multiple of 16",
          kLaunchFailure);
  if (bytes == 0) return;
  AsyncCopies& copies = warp.block->copies;
  AsyncCopy& copy = copies.pending.emplace_back(
      warp, ins,
      find_place(warp, ins, lane, 0, bytes,
                 ins.element_bytes ? Use::kAtomic : Use::kStore));
  copy.from.emplace(find_place(warp, ins, lane, 1, bytes, Use::kLoad));
  copy.of = AsyncCopy::Of::kBulkGroup;
  if (ins.address_count > 2) {
    copy.of = AsyncCopy::Of::kBarrier;
    copy.barrier.emplace(find_place(warp, ins, lane, 2, 8, Use::kAtomic));
  }
  copy.number = copies.begun++;
  copy.group[lane] = warp.bulk_groups[lane];
  if (ins.element_bytes) copy.reduction = reduction_of(ins.to);
  observe::copies(copy);
}

void begin_all(Warp& warp, const Instruction& ins, uint32_t mask) {
  for (; mask; mask &= mask - 1) begin(warp, ins, first_lane(mask));
}

// ---- Waiting -------------------------------------------------------------

// The source is read.
void take(AsyncCopy& copy) {
  observe::taken(copy);
  const auto* from = copy.from->at<uint8_t>(first_lane(copy.from->mask));
  copy.taken.emplace(from, from + copy.from->bytes);
}

template <bool only_reads>
void wait_for_groups(Warp& warp, const Instruction& ins, uint32_t mask) {
  const uint32_t* but = lanes<uint32_t>(warp, ins.source(0));
  std::erase_if(warp.block->copies.pending, [&](AsyncCopy& copy) {
    const int l = first_lane(copy.to.mask);
    if (copy.warp != &warp || copy.of != AsyncCopy::Of::kBulkGroup ||
        !(mask >> l & 1) ||
        uint64_t{copy.group[l]} + but[l] >= warp.bulk_groups[l])
      return false;
    if (!only_reads)
      make_bulk(copy);
    else if (!copy.taken)
      take(copy);
    return !only_reads;
  });
}

void close_group(Warp& warp, const Instruction&, uint32_t mask) {
  for (int l = 0; l < kLanes; ++l) warp.bulk_groups[l] += mask >> l & 1;
}

void nothing(Warp&, const Instruction&, uint32_t) {}

// ---- Decoding ------------------------------------------------------------

void decode_copy(const Statement& s, OperandReader& operands, Draft& ins) {
  const bool to_global = s.has("bulk_group");
  ins.accessed.at(0).space = to_global ? Space::kGlobal : Space::kCluster;
  ins.accessed.at(1).space =
      to_global || !s.has("global") ? Space::kShared : Space::kGlobal;
  if (!to_global) ins.accessed.at(2).space = Space::kCluster;
  ins.read = {operands.source(s.operands.at(2), 4)};
  ins.run = begin_all;
  if (!s.has("reduce")) return;
  ins.strength = Strength::kStrong;
  ins.to = s.type();
  ins.element_bytes = ins.to.bytes;
  ins.update = update_of(s);
}

}  // namespace

void make_bulk(AsyncCopy& copy) {
  const int l = first_lane(copy.to.mask);
  observe::copied(copy, copy.to.mask);
  const uint8_t* const from =
      copy.taken ? copy.taken->data() : copy.from->at<uint8_t>(l);
  uint8_t* const to = copy.to.at<uint8_t>(l);
  const uint32_t step = copy.ins->element_bytes;
  if (!copy.reduction)
    std::memcpy(to, from, copy.to.bytes);
  else
    for (uint32_t k = 0; k < copy.to.bytes; k += step)
      copy.reduction(to + k, from + k, copy.ins->update);
  copy.warp->block->quiet = false;
}

void end_copies(Block& block) {
  for (AsyncCopy& copy : block.copies.pending) {
    if (copy.to.space != Space::kGlobal) continue;
    if (!copy.taken) observe::abandoned(copy);
    make_bulk(copy);
  }
  block.copies.clear();
}

bool decode_bulk(const Statement& s, OperandReader& operands, Draft& ins) {
  if (s.name() != "cp" || !s.has("bulk")) return false;
  ins.spread = Spread::kAccess;
  if (s.has("commit_group")) {
    ins.run = close_group;
  } else if (s.has("wait_group")) {
    ins.read = {operands.source(s.operands.at(0), 4)};
    ins.run = s.has("read") ? wait_for_groups<true> : wait_for_groups<false>;
  } else if (s.has("prefetch")) {
    ins.run = nothing;
  } else {
    decode_copy(s, operands, ins);
  }
  return true;
}

}  // namespace simt
