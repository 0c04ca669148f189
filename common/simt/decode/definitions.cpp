// Follows places back to what they were computed from.
#include "common/simt/decode/definitions.h"

#include <algorithm>
#include <cstdlib>

#include "common/simt/decode/reading.h"

namespace simt {
namespace {

constexpr int kAddressSteps = 16;  // An address has one way only.

bool differs(Special special) {
  switch (special) {
    case Special::kTidX:
    case Special::kTidY:
    case Special::kTidZ:
    case Special::kCtaidX:
    case Special::kCtaidY:
    case Special::kCtaidZ:
    case Special::kLaneId:
    case Special::kWarpId:
    case Special::kLaneMaskEq:
    case Special::kLaneMaskLt:
    case Special::kLaneMaskLe:
    case Special::kLaneMaskGt:
    case Special::kLaneMaskGe:
    case Special::kSmId:
      return true;
    default:
      return false;
  }
}

// The number that is an instruction's source.
std::optional<int64_t> literal(const Instruction& ins, size_t source) {
  if (ins.statement->operands.size() < source + 2) return {};
  const std::string& text = ins.statement->operands[source + 1].text;
  char* end = nullptr;
  const int64_t number = std::strtoll(text.c_str(), &end, 0);
  if (end == text.c_str() || *end) return {};
  return number;
}

std::optional<int64_t> added_number(const Instruction& ins) {
  if ((!is(ins, "add") && !is(ins, "sub")) ||
      ins.statement->operands.size() != 3)
    return {};
  const auto number = literal(ins, 1);
  return number && is(ins, "sub") ? -*number : number;
}

// A signed index becomes an address. Its sum does not overflow: in C++ that is
// undefined.
bool widens(const Instruction& ins) {
  return is(ins, "cvt") && ins.statement->has("s64") &&
         ins.statement->op.back() == "s32";
}
bool scales(const Instruction& ins) {
  if (!is(ins, "mul") && !is(ins, "mad")) return false;
  return ins.statement->has("lo") ||
         (ins.statement->has("wide") && ins.statement->has("s32"));
}

}  // namespace

Definitions::Definitions(const Function& f, const Program& program)
    : f_(f), dominators_(f) {
  for (uint32_t pc = 0; pc < f.code.size(); ++pc)
    for (Place p : written(f.code[pc])) of_[p].push_back(pc);
  for (const auto& [special, place] : program.specials)
    if (differs(special)) differing_.insert(place);
  // Of loads that are alike, the first in the text stands for all.
  for (const Instruction& ins : f.code)
    if (is_load(ins))
      for (Place p : written(ins)) first_alike(p);
}

std::optional<uint32_t> Definitions::only(Place place) const {
  const auto known = of_.find(place);
  if (known == of_.end() || known->second.size() != 1) return {};
  return known->second.front();
}

const Instruction* Definitions::pure_writer(Place place) const {
  const std::optional<uint32_t> pc = only(place);
  if (!pc) return nullptr;
  const Instruction& ins = f_.code[*pc];
  return ins.pure && ins.guard == kNowhere ? &ins : nullptr;
}

Place Definitions::fixed(Place place) const {
  const std::optional<uint32_t> pc = only(place);
  if (!pc) return place;
  const Instruction& ins = f_.code[*pc];
  const bool copy = ins.guard == kNowhere && copies(ins);
  return copy && ins.source(0) < kNowhere ? ins.source(0) : place;
}

bool Definitions::uniform(Place place, int depth) const {
  if (place < 0) return !differing_.contains(place);
  const Instruction* ins = pure_writer(place);
  return ins && depth > 0 && std::ranges::all_of(read(*ins), [&](Place p) {
           return uniform(p, depth - 1);
         });
}

std::string Definitions::formula(Place place) const {
  if (place < 0) return std::to_string(place);
  const uint32_t pc = *only(place);
  const Instruction& ins = f_.code[pc];
  if (copies(ins)) return formula(ins.source(0));
  if (!is(ins, "add")) return "at " + std::to_string(pc);
  std::string text = ins.statement->op.back();
  for (Place p : ins.sources()) text += " (" + formula(p) + ")";
  return text;
}

bool Definitions::stays(Place place, const std::set<uint32_t>& loop,
                        int depth) const {
  const auto writers = of_.find(place);
  if (writers == of_.end() ||
      std::ranges::none_of(writers->second,
                           [&](uint32_t pc) { return loop.contains(pc); }))
    return true;
  const Instruction* ins = pure_writer(place);
  return ins && depth > 0 && std::ranges::all_of(read(*ins), [&](Place p) {
           return stays(p, loop, depth - 1);
         });
}

bool Definitions::settled(Place place, uint32_t pc) const {
  if (place < 0) return true;
  const std::optional<uint32_t> writer = only(place);
  if (!writer || f_.code[*writer].guard != kNowhere) return false;
  return *writer != pc && dominates(*writer, pc);
}

bool Definitions::stays_between(Place place, uint32_t from, uint32_t to) const {
  const auto writers = of_.find(place);
  if (writers == of_.end()) return true;  // Nobody writes a constant.
  const std::vector<bool> passed =
      reach(f_, successors(f_, from),
            [&](uint32_t at) { return at == from || at == to; });
  return std::ranges::none_of(writers->second,
                              [&](uint32_t pc) { return passed[pc]; });
}

std::optional<Definitions::Sum> Definitions::settled_sum(Place place,
                                                         uint32_t pc) const {
  if (settled(place, pc)) return Sum{place};
  const auto writer = only(place);
  if (!writer || f_.code[*writer].guard != kNowhere) return {};
  const auto number = added_number(f_.code[*writer]);
  const Place to = number ? f_.code[*writer].source(0) : kNowhere;
  if (to == kNowhere || !settled(to, pc)) return {};
  return Sum{to, *number};
}

// ---- Addresses -------------------------------------------------------------

Definitions::Origin Definitions::address(const Instruction& access) const {
  Origin result{access.address().base, access.address().offset};
  for (int steps = 0; steps < kAddressSteps; ++steps) {
    const std::optional<uint32_t> pc = only(result.base);
    if (!pc) break;
    const Instruction& ins = f_.code[*pc];
    if (ins.guard != kNowhere || !ins.statement) break;
    if (is(ins, "cvta") || copies(ins)) {
      result.base = ins.source(0);
    } else if (const auto number = added_number(ins)) {
      result = {ins.source(0), result.offset + *number};
    } else {
      break;
    }
  }
  result.base = first_sum(result.base);
  return result;
}

// img[y * w + x] and img + y * w + x: an index is widened and scaled behind its
// sum, or before.
Place Definitions::first_sum(Place place) const {
  Sums sums;
  add_up(place, 1, kSteps, sums);
  const Place alike = first_alike(place);
  if (sums.size() < 2) return alike;
  return sums_.try_emplace(std::move(sums), alike).first->second;
}

void Definitions::add_up(Place place, uint64_t times, int depth,
                         Sums& sums) const {
  const Instruction* const ins = depth > 0 ? computation(place) : nullptr;
  const auto add = [&](int k, uint64_t each) {
    add_up(ins->source(k), times * each, depth - 1, sums);
  };
  const auto number = [&](int k) { return literal(*ins, k); };
  if (ins && (is(*ins, "cvta") || copies(*ins) || widens(*ins))) {
    add(0, 1);
  } else if (ins && (is(*ins, "add") || is(*ins, "sub"))) {
    add(0, 1);
    add(1, is(*ins, "sub") ? ~uint64_t{0} : 1);
  } else if (ins && is(*ins, "shl") && number(1) &&
             static_cast<uint64_t>(*number(1)) < 32) {
    add(0, uint64_t{1} << *number(1));
  } else if (ins && scales(*ins) && number(1)) {
    add(0, *number(1));
    if (is(*ins, "mad")) add(2, 1);
  } else {
    sums[first_alike(place)] += times;
  }
}

void Definitions::take_apart(Place place, int depth, Parts& parts) const {
  if (uniform(place)) {
    parts.same += " " + std::to_string(fixed(place));
    return;
  }
  const Instruction* sum = depth > 0 ? computation(place) : nullptr;
  if (!sum) {
    parts.own.insert(first_alike(place));
    return;
  }
  parts.same += " " + sum->statement->name();
  for (Place p : sum->sources()) take_apart(p, depth - 1, parts);
}

Definitions::Parts Definitions::parts(Place place) const {
  Parts parts;
  take_apart(place, kSteps, parts);
  return parts;
}

std::optional<std::string> Definitions::same_store(
    const Instruction& store, Place value, const Instruction& other) const {
  if (!uniform(value)) return {};
  const Parts here = parts(store.address().base);
  const Parts there = parts(other.address().base);
  const bool on_one_index =
      here.own.sorted() == there.own.sorted() && here.own.sorted().size() == 1;
  if (!here.own.empty() && !on_one_index) return {};
  return "[" + here.same + " + " + std::to_string(store.address().offset) +
         "] = " + formula(value);
}

bool Definitions::moves(const Instruction& ins, const Origin& address) const {
  const Places& inputs = inputs_of(address.base);
  return std::ranges::any_of(ins.results(),
                             [&](Place p) { return inputs.contains(p); });
}

// What it is computed from that is not computed itself.
const Places& Definitions::inputs_of(Place place) const {
  const auto [known, fresh] = inputs_.try_emplace(place);
  if (!fresh) return known->second;
  known->second.insert(place);  // A loop may compute from its own result.
  if (const auto load = loaded(place)) {
    Places inputs = inputs_of(address(f_.code[*load]).base);
    inputs.insert(place);
    return known->second = inputs;
  }
  const Instruction* sum = computation(place);
  if (!sum) return known->second;
  Places inputs;
  for (Place p : sum->sources()) inputs.merge(inputs_of(p));
  return known->second = inputs;
}

// Of the places that are computed in the same way, the first that was asked
// for.
Place Definitions::first_alike(Place place) const {
  if (const auto known = alike_.find(place); known != alike_.end())
    return known->second;
  alike_[place] = place;  // As above.
  if (const auto load = loaded(place)) {
    const Instruction& ins = f_.code[*load];
    const Origin from = address(ins);
    Formula formula{ins.statement->op, {from.base}};
    formula.first.push_back(std::to_string(from.offset));
    Alike& others =
        formulas_.try_emplace(formula, Alike{place, place}).first->second;
    // The nearer it is, the sooner they are compared.
    const bool is_behind = dominates(*only(others.latest), *load);
    const Place other = is_behind ? others.latest : others.first;
    if (brings_again(*only(other), *load)) return alike_[place] = other;
    others.latest = place;
    return place;
  }
  const Instruction* sum = computation(place);
  if (!sum) return place;
  Formula formula{sum->statement->op, {}};
  for (Place p : sum->sources()) formula.second.push_back(first_alike(p));
  const Alike one = {place, place};
  return alike_[place] =
             formulas_.try_emplace(formula, one).first->second.first;
}

// The plain load that brings it. Not optimised, an index is loaded wherever
// it is needed: `if (level[to[e]] < 0) level[to[e]] = now;`.
std::optional<uint32_t> Definitions::loaded(Place place) const {
  const auto pc = only(place);
  if (!pc) return {};
  const Instruction& ins = f_.code[*pc];
  const bool plain = is_load(ins) && ins.strength == Strength::kWeak &&
                     ins.result_count == 1 && ins.guard == kNowhere;
  return plain ? pc : std::nullopt;
}

// Does a load bring again what an earlier one has brought? So it is if its
// thread only computes and loads in between, whichever way it takes.
bool Definitions::brings_again(uint32_t first, uint32_t load) const {
  if (first == load) return true;
  if (!dominates(first, load)) return false;
  std::vector<uint32_t> changes;
  reach(f_, successors(f_, first), [&](uint32_t at) {
    const Instruction& ins = f_.code[at];
    if (at == first || at == load) return true;
    if (ins.pure || is_load(ins) || ins.kind == Kind::kBranch) return false;
    changes.push_back(at);
    return true;
  });
  bool changed = false;  // All is known then: nobody needs to look further.
  reach(f_, changes, [&](uint32_t at) {
    changed = changed || at == load;
    return changed || at == first;
  });
  return !changed;
}

// The one that makes it, as addresses are made.
const Instruction* Definitions::computation(Place place) const {
  static const std::set<std::string> kSums = {
      "add", "sub", "mul", "mad", "shl", "and", "cvt", "cvta", "mov"};
  const Instruction* ins = pure_writer(place);
  const bool computes = ins && ins->statement && ins->result_count == 1 &&
                        kSums.contains(ins->statement->name());
  return computes ? ins : nullptr;
}

}  // namespace simt
