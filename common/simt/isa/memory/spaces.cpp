// Address spaces: generic addresses and those of a space, which space an
// address is in, and which block of a cluster has it.
#include "common/simt/core/lanes.h"
#include "common/simt/isa/memory/memory.h"
#include "common/simt/isa/memory/places.h"
#include "common/simt/memory/allocations.h"

namespace simt {
namespace {

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

void decode_conversion(const Statement& s, OperandReader& operands,
                       Draft& ins) {
  const OfSpace& handlers = of_space(space_of(s));
  const bool same = window_of(space_of(s)) == 0;
  ins.written = {operands.destination(s.operands.at(0))};
  ins.read = {operands.source(s.operands.at(1), 8)};
  ins.pure = true;
  ins.run = same          ? copy_handler(8)
            : s.has("to") ? handlers.from_generic
                          : handlers.to_generic;
}

void decode_question(const Statement& s, OperandReader& operands, Draft& ins) {
  ins.written = {operands.predicate(s.operands.at(0).text)};
  ins.read = {operands.source(s.operands.at(1), 8)};
  ins.run = of_space(space_of(s)).find;
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

bool decode_space(const Statement& s, OperandReader& operands, Draft& ins) {
  const std::string& op = s.name();
  if (op == "cvta")
    decode_conversion(s, operands, ins);
  else if (op == "mapa" || op == "getctarank")
    decode_rank(s, operands, ins);
  else if (op == "isspacep")
    decode_question(s, operands, ins);
  else
    return false;
  return true;
}

}  // namespace simt
