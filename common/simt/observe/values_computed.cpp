// What instructions make of undefined operands. Where bits keep to themselves,
// the instruction itself says it: it is tried with zeros and with ones.
#include <algorithm>
#include <cstring>

#include "common/simt/core/lanes.h"
#include "common/simt/observe/tainted.h"
#include "common/simt/observe/tried.h"
#include "common/simt/observe/values.h"

namespace simt {
namespace {

// f(place) for each register that the instruction computes with.
template <class F>
void each_source(const Instruction& ins, F f) {
  for (Place p : ins.sources())
    if (p != kNowhere) f(p);
  if (ins.takes_carry) f(UndefinedRegisters::kCarry);
}

// The same for each that it writes.
template <class F>
void each_result(const Instruction& ins, F f) {
  for (Place p : ins.results())
    if (p != kNowhere) f(p);
  if (ins.gives_carry) f(UndefinedRegisters::kCarry);
}

// Makes all that is undefined zeros, or ones.
void fill_undefined(uint8_t* at, const Undefined& u, bool ones) {
  if (u.width == 0) {
    uint32_t bits;
    std::memcpy(&bits, at, sizeof bits);
    bits = ones ? bits | u.lanes : bits & ~u.lanes;
    std::memcpy(at, &bits, sizeof bits);
    return;
  }
  for (uint32_t rest = u.lanes; rest; rest &= rest - 1) {
    const int l = first_lane(rest);
    for (int k = 0; k < u.width; ++k) {
      const auto bits = static_cast<uint8_t>(u.bits[l] >> 8 * (k % 8));
      uint8_t& byte = at[l * u.width + k];
      byte = ones ? byte | bits : byte & ~bits;
    }
  }
}

bool of_whole_bytes(uint64_t bits) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  return bits == (bits & kOnes) * 255;
}

// Does it give other bits of the word a value, and leave these? So bit-fields
// are set. An `or` alone sets flags, too, of which all should have a value.
bool inserts(const Instruction& ins) {
  return ins.statement->name() == "and" || ins.statement->name() == "bfi";
}

bool leaves(const Instruction& ins) {
  return inserts(ins) || ins.spread == Spread::kMoved ||
         ins.statement->name() == "or" || ins.statement->name() == "cvt";
}

// The origin of undefined bits that an instruction has made of a lane of `from`
// without computing with them.
Origin passed_on(const Undefined& from, int lane, const Instruction& ins,
                 const Undefined& result, uint64_t bits) {
  const Spread spread = ins.spread;
  Origin origin = from.origin[lane];
  origin.beside =
      leaves(ins) && (origin.beside || (origin.moved && inserts(ins)));
  if (spread == Spread::kMoved)
    origin.moved = origin.moved >= from.width
                       ? result.width
                       : std::min(origin.moved, result.width);
  else if (spread == Spread::kBytes && of_whole_bytes(bits))
    origin.moved = std::min<uint8_t>(origin.moved, 1);
  else
    origin.moved = 0;
  return origin;
}

}  // namespace

void Values::compute(Warp& warp, const Instruction& ins, uint32_t mask,
                     uint32_t unsure) {
  const UndefinedRegisters& registers = registers_of(warp);
  uint32_t undefined = unsure;
  each_source(ins, [&](Place p) { undefined |= registers.lanes(p) & mask; });
  if (!undefined) return define_results(warp, ins, mask);
  std::vector<Undefined> results = results_of(ins);
  const bool bitwise = ins.spread == Spread::kBits ||
                       ins.spread == Spread::kBytes ||
                       ins.spread == Spread::kMoved;
  if (!bitwise)
    as_a_whole(warp, ins, mask, results);
  else if (mask)
    bit_by_bit(warp, ins, mask, results);
  if (const Undefined* guard = registers.find(ins.guard))
    for (uint32_t rest = unsure; rest; rest &= rest - 1)
      for (Undefined& result : results)
        result.add(first_lane(rest), kAllBits,
                   guard->origin[first_lane(rest)].computed());
  write_results(warp, mask | unsure, results);
}

void Values::as_a_whole(Warp& warp, const Instruction& ins, uint32_t mask,
                        std::vector<Undefined>& results) {
  const UndefinedRegisters& registers = registers_of(warp);
  if (ins.spread == Spread::kAnd || ins.spread == Spread::kOr) {
    const uint32_t c = read_predicate(warp, ins, 2);
    mask &=
        registers.lanes(ins.source(2)) | (ins.spread == Spread::kAnd ? c : ~c);
  }
  constexpr uint64_t kLow = 0xffff, kHigh = kLow << 16;
  each_source(ins, [&](Place p) {
    const Undefined* source = registers.find(p);
    if (!source) return;
    for (uint32_t rest = source->lanes & mask; rest; rest &= rest - 1) {
      const int l = first_lane(rest);
      const uint64_t bits = source->bits[l];
      const uint64_t spread =
          ins.spread != Spread::kPairs
              ? kAllBits
              : (bits & kLow ? kLow : 0) | (bits & kHigh ? kHigh : 0);
      for (Undefined& result : results)
        result.add(l, spread, source->origin[l].computed());
    }
  });
}

// Tries what comes out if the undefined bits are zeros, and if they are ones:
// what then differs is undefined. The instruction itself says how it works.
void Values::bit_by_bit(Warp& warp, const Instruction& ins, uint32_t mask,
                        std::vector<Undefined>& results) {
  const UndefinedRegisters& registers = registers_of(warp);
  std::vector<const Undefined*> tried;
  Snapshot before(warp);
  int operand = 0;
  each_source(ins, [&](Place p) {
    const bool chooses = operand++ >= ins.spread_operands;
    const Undefined* u = registers.find(p);
    if (!u || !(u->lanes & mask)) return;
    for (uint32_t rest = chooses ? u->lanes & mask : 0; rest; rest &= rest - 1)
      for (Undefined& result : results)
        result.add(first_lane(rest), kAllBits,
                   u->origin[first_lane(rest)].computed());
    if (chooses || std::count(tried.begin(), tried.end(), u)) return;
    tried.push_back(u);
    before.add(u->place, u->width);
  });
  if (tried.empty()) return;
  for (const Undefined& result : results)
    before.add(result.place, result.width);
  Changes changes(warp, results);
  for (uint32_t ones = 0; ones < 1u << tried.size(); ++ones) {
    for (size_t k = 0; k < tried.size(); ++k)
      fill_undefined(lanes<uint8_t>(warp, tried[k]->place), *tried[k],
                     ones >> k & 1);
    ins.run(warp, ins, mask);
    changes.note(mask, [&](int lane, const Undefined& result, uint64_t bits) {
      const Undefined& u = **std::find_if(
          tried.begin(), tried.end(),
          [&](const Undefined* one) { return one->lanes >> lane & 1; });
      return passed_on(u, lane, ins, result, bits);
    });
    before.restore();
  }
}

void Values::divided_by_zero(Warp& warp, const Instruction& ins,
                             uint32_t mask) {
  // Where an operand was undefined, that is where to look.
  mask &= ~registers_of(warp).lanes(ins.result(0));
  std::vector<Undefined> results = results_of(ins);
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const int l = first_lane(rest);
    Origin origin;
    origin.site = ins.site;
    origin.thread = static_cast<uint16_t>(warp.index * kLanes + l);
    origin.by_zero = true;
    for (Undefined& result : results) result.add(l, kAllBits, origin);
  }
  write_results(warp, mask, results);
  settle(warp);
}

// ---- Results ---------------------------------------------------------------

std::vector<Undefined> Values::results_of(const Instruction& ins) const {
  std::vector<Undefined> results;
  each_result(ins, [&](Place p) {
    results.emplace_back().place = p;
    results.back().width = width(ins, p);
  });
  return results;
}

void Values::define_results(Warp& warp, const Instruction& ins, uint32_t mask) {
  UndefinedRegisters& registers = registers_of(warp);
  each_result(ins, [&](Place p) { registers.define(p, mask); });
  settle(warp);
}

void Values::write_results(Warp& warp, uint32_t mask,
                           const std::vector<Undefined>& results) {
  UndefinedRegisters& registers = registers_of(warp);
  for (const Undefined& result : results) {
    registers.define(result.place, mask);
    registers.set(result);
  }
}

uint8_t Values::width(const Instruction& ins, Place place) const {
  const auto& widths = grid_.program.function_of(ins).widths;
  const auto known = widths.find(place);
  return known == widths.end() ? 0 : known->second;
}

}  // namespace simt
