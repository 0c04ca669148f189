// Products of wgmma as the checker sees them: from their beginning until their
// warp has waited for them nobody may write what they read of shared memory,
// and nobody may look at the registers of their result.
#include <algorithm>
#include <optional>

#include "common/simt/core/grid.h"
#include "common/simt/core/lanes.h"
#include "common/simt/observe/bytes.h"
#include "common/simt/observe/checker.h"
#include "common/simt/observe/places.h"

namespace simt {
namespace {

constexpr char kName[] = "wgmma.mma_async";
constexpr uint32_t kChunkBytes = 16;
constexpr size_t kMostProducts = 512;  // that are kept in a block

// What the instruction has no operand for: a descriptor says where it reads.
constexpr Address kByDescriptor{.space = Space::kShared};

uint64_t end_of(const AsyncProduct::Chunk& chunk) {
  return uint64_t{chunk.at} + kChunkBytes;
}

// The first of these bytes that it reads.
std::optional<uint64_t> first_read(const AsyncProduct& product,
                                   const Bytes& bytes) {
  const auto& chunks = product.chunks;
  if (bytes.end <= chunks.front().at || bytes.begin >= end_of(chunks.back()))
    return std::nullopt;
  const auto meets = std::ranges::partition_point(
      chunks, [&](const auto& c) { return end_of(c) <= bytes.begin; });
  if (meets->at >= bytes.end) return std::nullopt;
  return std::max<uint64_t>(meets->at, bytes.begin);
}

}  // namespace

void Checker::begin(const AsyncProduct& product) {
  enter_postponed(*product.warp->block);
  if (!races_.full()) check_reads(product);
  check_fences(product);
  values_.fly(*product.warp, product);
}

// 32 chunks at once, as if each lane read one. They are compared with what came
// before. What comes later is, as long as the product goes on; behind that any
// thread of the warpgroup may tell others that all four warps have read.
void Checker::check_reads(const AsyncProduct& product) {
  const auto& chunks = product.chunks;
  Warp& warp = *product.warp;
  for (size_t first = 0; first < chunks.size(); first += kLanes) {
    const size_t count = std::min<size_t>(chunks.size() - first, kLanes);
    Access a(kByDescriptor, kChunkBytes, Use::kLoad);
    for (size_t l = 0; l < count; ++l) {
      a.address[l] = chunks[first + l].at;
      a.mask |= 1u << l;
      if (l && a.address[l] == a.address[l - 1] + kChunkBytes)
        a.next |= 1u << l;
    }
    a.base = warp.block->shared.data();
    a.space = Space::kShared;
    Mine mine = races_.mine_of(warp, *product.ins, a);
    mine.enters = false;
    races_.settle_clashes(warp, a);
    against_copies(mine);
    races_.check(mine);
  }
}

void Checker::check_fences(const AsyncProduct& product) {
  Warp& warp = *product.warp;
  const Instruction& ins = *product.ins;
  const Reader reader{warp, ins, 0, kName};
  for (const AsyncProduct::Chunk& chunk : product.chunks)
    if (is_unfenced(reader, chunk.at, chunk.at + kChunkBytes)) break;
  if (warp.fenced_products) return;
  if (found_.again("race", ins.site, ins.site)) return;
  found_.add(
      "race", ins.site, ins.site,
      finding_at(warp, ins, 0, "race",
                 "wgmma.mma_async may run before its registers have been "
                 "written: its warp has made no wgmma.fence, and needs one "
                 "before its first wgmma.mma_async"));
}

// ---- What it reads is overwritten -------------------------------------------

// Whoever knows of this knows that the product has been read.
bool Checker::waited(AsyncProduct& product, const Warp& warp) {
  if (races_.full()) return false;
  Event e;
  e.block = warp.block->number;
  e.warp = warp.index;
  e.site = product.ins->site;
  product.waits.push_back({warp.index, races_.log().add(e)});
  return warp.block->copies.products.size() <= kMostProducts;
}

bool Checker::has_read(const Mine& mine, int lane, const Block& block,
                       const AsyncProduct& product) const {
  Event e;
  e.block = block.number;
  for (const AsyncProduct::Wait& wait : product.waits) {
    e.warp = wait.warp;
    if (mine.block.number == e.block && mine.warp.index == wait.warp)
      return true;
    for (int other = 0; other < kLanes; ++other)
      if (races_.ordered(mine, e, wait.time, lane, other)) return true;
  }
  return false;
}

// A product that has been read is overwritten but once.
void Checker::against_products(const Mine& mine, Block& block) {
  const Bytes all = hull_of(mine.access);
  std::erase_if(block.copies.products, [&](const AsyncProduct& product) {
    if (!first_read(product, all)) return false;
    for (uint32_t rest = mine.access.mask; rest; rest &= rest - 1) {
      const int l = first_lane(rest);
      const auto address = first_read(product, bytes_of(mine.access, l));
      if (!address) continue;
      const bool has_been = has_read(mine, l, block, product);
      if (!has_been) overwritten(mine, l, product, *address);
      return has_been;
    }
    return false;
  });
}

void Checker::overwritten(const Mine& mine, int lane,
                          const AsyncProduct& product, uint64_t address) {
  const Instruction& theirs = *product.ins;
  if (found_.again("race", mine.ins.site, theirs.site)) return;
  Finding f = finding_at(mine.warp, mine.ins, lane, "race", "");
  place_other(grid_, f, theirs, product.warp->block->number,
              product.warp->index * kLanes);
  f.address = address;
  f.message = std::string(verb(mine.access.use)) + " of " +
              std::to_string(mine.access.bytes) + " bytes of " +
              text_of_place(grid_, Space::kShared, address) + ": " + kName +
              at_place(grid_, theirs) + " of warp " +
              std::to_string(product.warp->index) +
              " may still read it. It has been read when a warp of that "
              "warpgroup has passed wgmma.commit_group and "
              "wgmma.wait_group; other threads need a barrier after that";
  found_.add("race", mine.ins.site, theirs.site, std::move(f));
}

// ---- Its result is looked at ------------------------------------------------

namespace {

// Where an access to the thread's own memory goes, or nothing: the same in all
// lanes, as far as a compiler makes it.
std::optional<uint64_t> own_memory(Warp& warp, const Instruction& ins,
                                   uint32_t mask) {
  if (!ins.statement || ins.address_count != 1 ||
      (ins.statement->name() != "ld" && ins.statement->name() != "st"))
    return {};
  const Address& a = ins.address();
  uint64_t at = a.offset;
  if (a.base == kNowhere)
    at += warp.stack_base;
  else if (a.bytes == 8)
    at += lanes<uint64_t>(warp, a.base)[first_lane(mask)];
  else
    at += lanes<uint32_t>(warp, a.base)[first_lane(mask)];
  if (a.space == Space::kLocal) return at | kLocalWindow;
  const bool is_own =
      a.space == Space::kGeneric && (at & kWindowMask) == kLocalWindow;
  return is_own ? std::optional(at) : std::nullopt;
}

}  // namespace

// A copy of what is not there yet is no use of it: compilers make many. And
// registers of PTX may be other ones in the machine: that one is written again
// matters only if nothing else holds what will come.
void Checker::follow(Warp& warp, const Instruction& ins, uint32_t mask) {
  auto& in_flight = warp.block->checks->values[warp.index].in_flight;
  if (ins.guard != kNowhere) mask &= read_guard(warp, ins);
  if (in_flight.empty() || !mask) return;
  if (const auto memory = own_memory(warp, ins, mask))
    return carry(warp, ins, *memory);
  const auto found = [&](Place place) {
    return in_flight.find(warp.registers + place);
  };
  const auto is_result = [&](Place place) {
    return std::ranges::find(ins.results(), place) != ins.results().end();
  };
  const bool moves = ins.statement && ins.statement->name() == "mov";
  const bool multiplies = ins.statement && ins.statement->name() == "wgmma";
  std::optional<InFlight> moved;
  for (Place p : ins.sources()) {
    const auto one = found(p);
    if (p == kNowhere || one == in_flight.end()) continue;
    if (multiplies && is_result(p)) continue;
    moved = one->second;
    if (!moves) return not_awaited(warp, ins, *moved, "reads");
  }
  if (multiplies) return;
  for (Place p : ins.results()) {
    if (p == kNowhere) continue;
    const uint8_t* const at = warp.registers + p;
    if (is_lost(warp, at) && !(moved && *moved == in_flight.at(at)))
      return not_awaited(warp, ins, in_flight.at(at), "overwrites");
    if (moved)
      in_flight[at] = *moved;
    else
      in_flight.erase(at);
  }
}

// Not optimised, a variable lies in its thread's memory: there is a copy, too.
// An address is told from a register by its window.
void Checker::carry(Warp& warp, const Instruction& ins, uint64_t memory) {
  auto& in_flight = warp.block->checks->values[warp.index].in_flight;
  const bool loads = ins.result_count > 0;
  const int count = loads ? ins.result_count : ins.source_count;
  for (int k = 0; k < count; ++k) {
    const Place place = loads ? ins.result(k) : ins.source(k);
    if (place == kNowhere) continue;
    const uint8_t* from = warp.registers + place;
    const uint8_t* to = reinterpret_cast<const uint8_t*>(
        memory + uint64_t{ins.element_bytes} * k);
    if (loads) std::swap(from, to);
    std::optional<InFlight> moved;
    if (const auto one = in_flight.find(from); one != in_flight.end())
      moved = one->second;
    if (is_lost(warp, to) && moved != in_flight.at(to))
      return not_awaited(warp, ins, in_flight.at(to), "overwrites");
    if (moved)
      in_flight[to] = *moved;
    else
      in_flight.erase(to);
  }
}

// Does only this register hold such a result?
bool Checker::is_lost(const Warp& warp, const uint8_t* at) const {
  const auto& in_flight = warp.block->checks->values[warp.index].in_flight;
  const auto one = in_flight.find(at);
  if (one == in_flight.end()) return false;
  return std::ranges::count_if(in_flight, [&](const auto& other) {
           return other.second == one->second;
         }) == 1;
}

void Checker::not_awaited(Warp& warp, const Instruction& ins,
                          const InFlight& result, const char* does) {
  const Instruction& by = *result.by;
  if (!found_.again("race", ins.site, by.site)) {
    Finding f =
        finding_at(warp, ins, 0, "race",
                   std::string("this instruction ") + does +
                       " an accumulator of " + kName + at_place(grid_, by) +
                       ", whose result need not be there yet: "
                       "wgmma.commit_group and wgmma.wait_group come "
                       "first");
    place_other(grid_, f, by, warp.block->number, warp.index * kLanes);
    found_.add("race", ins.site, by.site, std::move(f));
  }
  values_.land(warp, UINT32_MAX);  // Once is enough.
}

}  // namespace simt
