// Of code that was not optimised (-G): every variable has registers of its own,
// a condition is computed and then its opposite, arguments and results pass
// through memory. All of it is carried out as it stands. But where a value
// comes from, and what becomes of it, is the same as in optimised code; so
// whoever reads a copy is let read what was copied, and the rest of decode/
// need not know.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/simt/core/lanes.h"
#include "common/simt/core/warp.h"
#include "common/simt/decode/analysis.h"
#include "common/simt/isa/arithmetic/arithmetic.h"

namespace simt {
namespace {

void go_on(Warp&, const Instruction&, uint32_t) {}

bool leads_nowhere(const Function& f, uint32_t pc) {
  const Instruction& ins = f.code[pc];
  return ins.kind == Kind::kBranch && ins.guard == kNowhere &&
         ins.target == pc + 1;
}

bool lies_in_frame(const Instruction& ins) {
  return ins.address_count == 1 && ins.address().space == Space::kLocal &&
         ins.address().base == kNowhere;
}
// Of an argument or a result.
bool is_passed(const Instruction& ins) {
  return lies_in_frame(ins) && ins.statement &&
         (ins.statement->name() == "ld" || ins.statement->name() == "st");
}
bool brings(const Instruction& ins) { return ins.result_count == 1; }
Place passed_by(const Instruction& ins) {
  return brings(ins) ? ins.result(0) : ins.source(0);
}

// A number of 16 bits is passed in 32, and the lower half is loaded.
bool brings_half(const Function& f, const Instruction& ins) {
  return brings(ins) && ins.element_bytes == 2 && ins.result(0) >= 0 &&
         f.widths.at(ins.result(0)) == 2;
}
void take_half(Warp& w, const Instruction& i, uint32_t mask) {
  map_lanes(
      mask, lanes<uint16_t>(w, i.result(0)),
      [](uint32_t whole) { return static_cast<uint16_t>(whole); },
      lanes<uint32_t>(w, i.source(0)));
}

// What passes through memory of the function's own, a number or a value of one
// register, and always as a whole.
class Passed {
 public:
  Passed(const Function& f, const std::map<uint32_t, uint32_t>& slots) {
    for (const auto& [offset, bytes] : slots)
      if (bytes == 4 || bytes == 8) bytes_[offset] = bytes;
    for (const Instruction& ins : f.code)
      if (lies_in_frame(ins) && !is_whole(f, ins)) forget(ins);
  }
  // The bytes of what the instruction passes; 0: it passes nothing of these.
  uint32_t bytes(const Instruction& ins) const {
    if (!is_passed(ins)) return 0;
    const auto slot = bytes_.find(static_cast<uint32_t>(ins.address().offset));
    return slot == bytes_.end() ? 0 : slot->second;
  }

 private:
  bool is_whole(const Function& f, const Instruction& ins) const {
    if (!is_passed(ins) || ins.guard != kNowhere ||
        ins.result_count + ins.source_count != 1)
      return false;
    const Place place = passed_by(ins);
    const uint32_t width = bytes(ins);
    if (width == 4 && brings_half(f, ins)) return true;
    return ins.element_bytes == width &&
           (place < kNowhere || (place >= 0 && f.widths.at(place) == width));
  }
  // It may lie across several; an address may lead to all of one.
  void forget(const Instruction& ins) {
    const auto begin = static_cast<uint32_t>(ins.address().offset);
    const uint32_t count = ins.result_count + ins.source_count;
    const uint32_t end = begin + std::max(ins.element_bytes * count, 1u);
    std::erase_if(bytes_, [&](const auto& slot) {
      return slot.first < end && begin < slot.first + slot.second;
    });
  }

  std::map<uint32_t, uint32_t> bytes_;  // by where it begins
};

Place new_register(Function& f, uint32_t bytes) {
  const uint32_t at = (f.register_bytes + 63) / 64 * 64;
  f.register_bytes = at + bytes * kLanes;
  f.widths[static_cast<Place>(at)] = static_cast<uint8_t>(bytes);
  return static_cast<Place>(at);
}

// Of the registers that one instruction writes, those that nobody reads before:
// each of their readers reads what that one wrote last.
std::set<Place> settled_registers(const Function& f) {
  std::set<Place> settled = f.written_once();
  for (const Function::Unwritten& u : f.unwritten) settled.erase(u.place);
  for (const Instruction& ins : f.code)
    if (ins.guard != kNowhere)
      for (Place p : ins.results()) settled.erase(p);
  return settled;
}

bool has_width(const Function& f, Place place, uint8_t width) {
  return place < kNowhere || (place >= 0 && f.widths.at(place) == width);
}

bool copies_register(const Instruction& ins, const Function& f) {
  if (!ins.pure || ins.result_count != 1 || ins.source_count != 1 ||
      ins.result(0) == kNowhere)
    return false;
  const uint8_t width = f.widths.at(ins.result(0));
  return width > 1 && ins.run == copy_handler(width) &&
         has_width(f, ins.source(0), width);
}

bool is_of_conditions(const Instruction& ins, const char* op) {
  return ins.pure && ins.statement && ins.statement->name() == op &&
         ins.statement->op.back() == "pred";
}

}  // namespace

void go_straight_on(Function& function) {
  for (uint32_t pc = 0; pc < function.code.size(); ++pc) {
    if (!leads_nowhere(function, pc)) continue;
    Instruction& ins = function.code[pc];
    ins.kind = Kind::kPlain;
    ins.run = go_on;
    ins.pure = true;
  }
}

void pass_in_registers(Function& function,
                       const std::map<uint32_t, uint32_t>& slots) {
  const Passed passed(function, slots);
  std::map<int64_t, Place> registers;
  for (Instruction& ins : function.code) {
    const uint32_t bytes = passed.bytes(ins);
    if (bytes == 0) continue;
    const auto [slot, fresh] =
        registers.try_emplace(ins.address().offset, kNowhere);
    if (fresh) slot->second = new_register(function, bytes);
    const Place other = passed_by(ins);
    const std::vector<Place> operands = brings(ins)
                                            ? std::vector{other, slot->second}
                                            : std::vector{slot->second, other};
    ins.operands = function.keep(operands) + 1;
    ins.result_count = ins.source_count = 1;
    ins.address_count = 0;
    const bool half = ins.element_bytes < bytes;
    Statement& moves = function.rewritten.emplace_back(*ins.statement);
    if (half)
      moves.op = {"cvt", "u16", "u32"};
    else
      moves.op = {"mov", "b" + std::to_string(8 * bytes)};
    ins.statement = &moves;
    ins.run = half ? take_half : copy_handler(static_cast<int>(bytes));
    ins.kind = Kind::kPlain;
    ins.pure = true;
  }
}

void see_through_copies(Function& function) {
  const std::set<Place> settled = settled_registers(function);
  struct Original {
    Place place;
    bool negated;
  };
  std::map<Place, Original> originals;
  const auto resolve = [&](Place p) {
    const auto found = originals.find(p);
    return found == originals.end() ? Original{p, false} : found->second;
  };
  const auto stays = [&](Place p) {
    return p < kNowhere || settled.contains(p);
  };
  bool found = true;
  // Not in the order of the text: a loop's end may stand before its beginning.
  while (std::exchange(found, false)) {
    for (const Instruction& ins : function.code) {
      const bool negates = is_of_conditions(ins, "not");
      if (!negates && !is_of_conditions(ins, "mov") &&
          !copies_register(ins, function))
        continue;
      const Place to = ins.result(0), from = ins.source(0);
      if (!settled.contains(to) || !stays(from)) continue;
      const Original seen = resolve(from);
      const bool negated = seen.negated != (negates != ins.inverts(0));
      const auto known = originals.find(to);
      if (known != originals.end() && known->second.place == seen.place &&
          known->second.negated == negated)
        continue;
      originals[to] = {seen.place, negated};
      found = true;
    }
  }
  for (Instruction& ins : function.code) {
    std::vector<Place> operands(ins.results().begin(), ins.results().end());
    for (int k = 0; k < ins.source_count; ++k) {
      const Original seen = resolve(ins.source(k));
      operands.push_back(seen.negated ? ins.source(k) : seen.place);
    }
    ins.operands = function.keep(operands) + ins.result_count;
    for (Address& a : ins.addresses()) a.base = resolve(a.base).place;
    if (ins.guard == kNowhere) continue;
    const Original seen = resolve(ins.guard);
    ins.guard = seen.place;
    ins.guard_negated ^= seen.negated;
  }
}

}  // namespace simt
