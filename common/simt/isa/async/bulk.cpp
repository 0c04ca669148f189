// Bulk copies: one thread asks for many bytes, which come or go at once.
#include "common/simt/isa/async/bulk.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/simt/core/finding.h"
#include "common/simt/core/lanes.h"
#include "common/simt/isa/async/async.h"
#include "common/simt/isa/memory/atomic.h"
#include "common/simt/isa/memory/places.h"
#include "common/simt/observe/observers.h"

namespace simt {
namespace {

constexpr uint32_t kUnit = 16;  // of addresses and sizes, in bytes

// ---- Beginning -----------------------------------------------------------

Block& home_of(const Warp& warp, const Access& a) {
  return a.owner ? *a.owner : *warp.block;
}

void require_one_block(Warp& warp, const Instruction& ins, int lane,
                       const BulkCopy& copy) {
  if (copy.barrier && copy.barrier->owner != copy.to.owner)
    fault(warp, ins, lane, "bad copy",
          "the mbarrier that it signals lies in another block's shared memory "
          "than its bytes",
          kLaunchFailure);
  if (copy.to.owner && copy.from && copy.from->space == Space::kShared)
    throw Error(warp.block->grid->program.location(ins.where) + ": " +
                ins.statement->text +
                " writes from one block of the cluster to another; the "
                "executor's bulk copies do so only from global memory");
}

// It goes on in the block that it writes to or, if that is none, reads from.
void begin_one(Warp& warp, const Instruction& ins, int lane,
               const BulkCopy& wanted) {
  require_one_block(warp, ins, lane, wanted);
  AsyncCopies& copies = home_of(warp, wanted.to).copies;
  AsyncCopy& copy = copies.pending.emplace_back(warp, ins, wanted.to);
  if (wanted.from) copy.from.emplace(*wanted.from);
  copy.taken = wanted.bytes;
  copy.of =
      wanted.barrier ? AsyncCopy::Of::kBarrier : AsyncCopy::Of::kBulkGroup;
  if (wanted.barrier) copy.barrier.emplace(*wanted.barrier);
  copy.number = copies.begun++;
  copy.group[lane] = warp.bulk_groups[lane];
  copy.box = wanted.box;
  copy.reduction = wanted.reduction;
  copy.element_bytes = wanted.element_bytes;
  observe::copies(copy);
}

// The same place in the shared memory of the block of that rank.
void move_to(Warp& warp, const Instruction& ins, int lane, uint32_t rank,
             Access& a) {
  Block& own = *warp.block;
  const size_t blocks = std::max<size_t>(own.cluster.size(), 1);
  if (rank >= blocks)
    fault(warp, ins, lane, "bad copy",
          "its mask names rank " + std::to_string(rank) +
              ", and the cluster has " + std::to_string(blocks) + " blocks",
          kLaunchFailure);
  a.owner = rank == own.rank ? nullptr : own.cluster[rank];
  Block& other = home_of(warp, a);
  if (other.live == 0)
    fault(warp, ins, lane, "block ended",
          "it copies to block " + triple(other.id) +
              " of the cluster, which has ended",
          kLaunchFailure);
  a.base = other.shared.data();
}

template <bool multicasts>
void begin(Warp& warp, const Instruction& ins, int lane) {
  const uint32_t bytes = lanes<uint32_t>(warp, ins.source(0))[lane];
  if (bytes % kUnit)
    fault(warp, ins, lane, "bad copy",
          "it copies " + std::to_string(bytes) +
              " bytes, which should be a multiple of 16",
          kLaunchFailure);
  if (bytes == 0) return;
  const bool reduces = ins.element_bytes;
  BulkCopy copy{bulk_place(warp, ins, lane, 0, bytes, kUnit,
                           reduces ? Use::kAtomic : Use::kStore),
                bulk_place(warp, ins, lane, 1, bytes, kUnit, Use::kLoad),
                std::nullopt};
  if (ins.address_count > 2)
    copy.barrier.emplace(bulk_place(warp, ins, lane, 2, 8, 8, Use::kAtomic));
  if (reduces) copy.reduction = reduction_of(ins.to);
  copy.element_bytes = ins.element_bytes;
  begin_bulk(warp, ins, lane, copy, multicasts);
}

template <bool multicasts>
void begin_all(Warp& warp, const Instruction& ins, uint32_t mask) {
  for (; mask; mask &= mask - 1) begin<multicasts>(warp, ins, first_lane(mask));
}

// What a lane has in the registers to be stored, one behind the other.
std::vector<uint8_t> bytes_in_registers(Warp& warp, const Instruction& ins,
                                        int lane) {
  std::vector<uint8_t> bytes;
  for (Place place : ins.sources()) {
    const uint8_t* const from =
        lanes<uint8_t>(warp, place) + lane * ins.element_bytes;
    bytes.insert(bytes.end(), from, from + ins.element_bytes);
  }
  return bytes;
}

template <bool reduces>
void begin_from_registers(Warp& warp, const Instruction& ins, uint32_t mask) {
  if (!warp.block->grid->shape.explicit_cluster)
    fault(warp, ins, first_lane(mask), "no cluster",
          ins.statement->name() +
              ".async is an illegal instruction here: the kernel was launched "
              "without clusters. Give it __cluster_dims__, or launch it with "
              "cudaLaunchAttributeClusterDimension",
          kIllegalInstruction);
  const uint32_t bytes = ins.element_bytes * ins.source_count;
  for (; mask; mask &= mask - 1) {
    const int lane = first_lane(mask);
    BulkCopy copy{bulk_place(warp, ins, lane, 0, bytes, bytes,
                             reduces ? Use::kAtomic : Use::kStore),
                  std::nullopt,
                  bulk_place(warp, ins, lane, 1, 8, 8, Use::kAtomic)};
    if (copy.to.space != Space::kShared)
      fault(
          warp, ins, lane, "bad copy",
          "it stores in shared memory of the cluster, and this lies elsewhere",
          kLaunchFailure);
    if (reduces) copy.reduction = reduction_of(ins.to);
    copy.element_bytes = ins.element_bytes;
    copy.bytes = bytes_in_registers(warp, ins, lane);
    begin_one(warp, ins, lane, copy);
  }
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

void close_bulk_group(Warp& warp, const Instruction&, uint32_t mask) {
  for (int l = 0; l < kLanes; ++l) warp.bulk_groups[l] += mask >> l & 1;
}

void nothing(Warp&, const Instruction&, uint32_t) {}

// ---- Decoding ------------------------------------------------------------

void decode_bulk_copy(const Statement& s, OperandReader& operands, Draft& ins) {
  const bool to_global = s.has("bulk_group");
  ins.accessed.at(0).space = to_global ? Space::kGlobal : Space::kCluster;
  ins.accessed.at(1).space =
      to_global || !s.has("global") ? Space::kShared : Space::kGlobal;
  if (!to_global) ins.accessed.at(2).space = Space::kCluster;
  ins.read = {operands.source(s.operands.at(2), 4)};
  ins.run = begin_all<false>;
  if (s.has("multicast::cluster")) {
    ins.read.push_back(operands.source(s.operands.at(4), 2));
    ins.run = begin_all<true>;
  }
  if (!s.has("reduce")) return;
  ins.strength = Strength::kStrong;
  ins.to = s.type();
  ins.element_bytes = ins.to.bytes;
  ins.update = update_of(s);
}

// st.async and red.async.
void decode_from_registers(const Statement& s, OperandReader& operands,
                           Draft& ins) {
  const Operand& value = s.operands.at(1);
  const bool reduces = s.name() == "red";
  ins.to = s.type();
  ins.element_bytes = ins.to.bytes;
  std::vector<std::string> names = value.list;
  if (names.empty()) names = {value.text};
  for (const std::string& name : names)
    ins.read.push_back(operands.source(named(name), ins.to.bytes));
  if (reduces) ins.update = update_of(s);
  ins.strength = reduces ? Strength::kStrong : Strength::kWeak;
  ins.for_cluster = true;
  ins.spread = Spread::kAccess;
  ins.run = reduces ? begin_from_registers<true> : begin_from_registers<false>;
}

}  // namespace

Access bulk_place(Warp& warp, const Instruction& ins, int lane, int which,
                  uint32_t bytes, uint32_t alignment, Use use) {
  Access a(ins.addresses()[which], bytes, use);
  find_places(warp, ins, 1u << lane, alignment, a);
  return a;
}

void begin_bulk(Warp& warp, const Instruction& ins, int lane,
                const BulkCopy& copy, bool multicasts) {
  if (!multicasts) return begin_one(warp, ins, lane, copy);
  const Place ranks = ins.source(ins.source_count - 1);
  for (uint32_t rest = lanes<uint16_t>(warp, ranks)[lane]; rest;
       rest &= rest - 1) {
    BulkCopy one = copy;
    const auto rank = static_cast<uint32_t>(std::countr_zero(rest));
    move_to(warp, ins, lane, rank, one.to);
    move_to(warp, ins, lane, rank, *one.barrier);
    begin_one(warp, ins, lane, one);
  }
}

namespace {

void move(const AsyncCopy& copy, uint8_t* to, const uint8_t* from,
          uint32_t bytes) {
  if (!copy.reduction) return void(std::memcpy(to, from, bytes));
  for (uint32_t k = 0; k < bytes; k += copy.element_bytes)
    copy.reduction(to + k, from + k, copy.ins->update);
}

void fill(uint8_t* to, uint32_t bytes, const std::vector<uint8_t>& with) {
  if (with.empty()) return void(std::memset(to, 0, bytes));
  for (uint32_t k = 0; k < bytes; k += with.size())
    std::memcpy(to + k, with.data(), with.size());
}

// To the nearest, of two the even one; what is no number becomes one NaN.
uint32_t rounded_to_tf32(uint32_t bits) {
  constexpr uint32_t kInfinity = 0x7f800000, kDropped = 0x1fff;
  if ((bits & 0x7fffffff) > kInfinity) return 0x7fffe000;
  return (bits + kDropped / 2 + (bits >> 13 & 1)) & ~kDropped;
}

void round_to_tf32(uint8_t* numbers, uint32_t bytes) {
  for (uint32_t k = 0; k < bytes; k += 4) {
    uint32_t bits;
    std::memcpy(&bits, numbers + k, sizeof bits);
    bits = rounded_to_tf32(bits);
    std::memcpy(numbers + k, &bits, sizeof bits);
  }
}

// `shared`: where the box is.
void move_box(const AsyncCopy& copy, int lane, uint8_t* shared) {
  const TensorBox& box = *copy.box;
  const bool loads = copy.to.space == Space::kShared;
  const uint64_t begin = (loads ? copy.to : *copy.from).address[lane];
  if (loads)
    box.each_shared(begin, [&](uint64_t at, uint32_t bytes) {
      fill(shared + (at - begin), bytes, box.filler);
    });
  box.each_chunk(begin, [&](const TensorBox::Run& run, uint32_t done,
                            uint64_t at, uint32_t bytes) {
    uint8_t* const here = shared + (at - begin);
    uint8_t* const there = run.base + run.address + done;
    loads ? move(copy, here, there, bytes) : move(copy, there, here, bytes);
    if (box.rounds) round_to_tf32(here, bytes);
  });
}

}  // namespace

void make_bulk(AsyncCopy& copy) {
  const int l = first_lane(copy.to.mask);
  observe::copied(copy, copy.to.mask);
  uint8_t* const from =
      copy.taken ? copy.taken->data() : copy.from->at<uint8_t>(l);
  uint8_t* const to = copy.to.at<uint8_t>(l);
  if (!copy.box)
    move(copy, to, from, copy.to.bytes);
  else
    move_box(copy, l, copy.to.space == Space::kShared ? to : from);
  copy.warp->block->quiet = home_of(*copy.warp, copy.to).quiet = false;
}

namespace {

// What threads of one block have begun, in another.
void end_copies_of(const Block& block, Block& other) {
  std::erase_if(other.copies.pending, [&](AsyncCopy& copy) {
    const bool its = copy.warp->block == &block;
    if (its) bring_bulk(copy);
    return its;
  });
}

}  // namespace

void end_copies(Block& block) {
  for (Block* other : block.cluster)
    if (other != &block) end_copies_of(block, *other);
  for (AsyncCopy& copy : block.copies.pending) {
    if (copy.to.space != Space::kGlobal) continue;
    if (!copy.taken) observe::abandoned(copy);
    make_bulk(copy);
  }
  block.copies.clear();
}

bool decode_bulk(const Statement& s, OperandReader& operands, Draft& ins) {
  if ((s.name() == "st" || s.name() == "red") && s.has("async")) {
    decode_from_registers(s, operands, ins);
    return true;
  }
  if (s.name() == "tensormap") {
    decode_map_copy(s, ins);
    return true;
  }
  if (s.name() != "cp" || !s.has("bulk")) return false;
  ins.spread = Spread::kAccess;
  if (s.has("commit_group")) {
    ins.run = close_bulk_group;
  } else if (s.has("wait_group")) {
    ins.read = {operands.source(s.operands.at(0), 4)};
    ins.run = s.has("read") ? wait_for_groups<true> : wait_for_groups<false>;
  } else if (s.has("prefetch")) {
    ins.run = nothing;
  } else if (s.has("tensor")) {
    decode_tensor_copy(s, operands, ins);
  } else {
    decode_bulk_copy(s, operands, ins);
  }
  return true;
}

}  // namespace simt
