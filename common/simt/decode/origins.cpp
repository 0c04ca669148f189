// Where values come from, as far as a look at the PTX can tell: which shared
// array an address was made of, which member masks came from activemask.
//
// A register has one origin for the whole function; what is not certain counts
// as unknown and is never reported.
#include <algorithm>
#include <set>
#include <unordered_map>

#include "common/simt/decode/analysis.h"

namespace simt {
namespace {

// What a register may hold. Nothing: no definition seen yet.
struct Origin {
  enum Kind : uint8_t { kNothing, kNumber, kArray, kUnknown };
  Kind kind = kNothing;
  int array = -1;
  bool operator==(const Origin&) const = default;
};

Origin merge(Origin a, Origin b) {
  if (a.kind == Origin::kNothing) return b;
  if (b.kind == Origin::kNothing || a == b) return a;
  return {Origin::kUnknown};
}

class Origins {
 public:
  Origins(const Function& function, const Program& program) {
    for (const auto* list :
         {&program.static_shared_at, &program.dynamic_shared})
      for (const Program::Address& a : *list) arrays_[a.at] = a.array;
    do {
      changed_ = false;
      for (const Instruction& ins : function.code)
        if (ins.statement && ins.result_count) visit(ins);
    } while (changed_);
  }

  // The number of the shared array that the address points into; or -1.
  int array(const Address& a) const {
    const Origin origin = of(a.base);
    return origin.kind == Origin::kArray ? origin.array : -1;
  }
  bool from_activemask(Place place) const { return active_.contains(place); }

 private:
  Origin of(Place place) const {
    if (const auto a = arrays_.find(place); a != arrays_.end())
      return {Origin::kArray, a->second};
    const auto known = registers_.find(place);
    if (known != registers_.end()) return known->second;
    if (place >= 0) return {};  // not yet
    return {Origin::kNumber};   // a literal, or a special register
  }

  void visit(const Instruction& ins) {
    const Origin value = result(ins);
    const bool whole = ins.result_count == 1 || value.kind != Origin::kArray;
    for (Place p : ins.results())
      define(p, whole ? value : Origin{Origin::kUnknown});
    if (!passes_mask(ins)) return;
    for (Place p : ins.results()) changed_ |= active_.insert(p).second;
  }

  void define(Place place, Origin value) {
    if (place == kNowhere) return;
    Origin& known = registers_[place];
    const Origin merged = merge(known, value);
    changed_ |= !(merged == known);
    known = merged;
  }

  Origin result(const Instruction& ins) const {
    const std::string& op = ins.statement->name();
    const auto in = [&](int k) {
      return k < ins.source_count ? of(ins.source(k)) : Origin{Origin::kNumber};
    };
    if (op == "mov" || op == "cvta" || op == "cvt")
      return ins.source_count > 1 ? Origin{Origin::kUnknown} : in(0);
    if (op == "add") return sum(in(0), in(1));
    if (op == "sub") return sum(in(0), in(1), in(1).kind == Origin::kArray);
    if (op == "mad") return sum(product(in(0), in(1)), in(2));
    if (op == "selp") return merge(in(0), in(1));
    if (!ins.pure) return {Origin::kNumber};  // It is loaded.
    Origin all{Origin::kNumber};
    for (int k = 0; k < ins.source_count; ++k) all = product(all, in(k));
    return all;
  }

  static Origin sum(Origin a, Origin b, bool subtracts_array = false) {
    if (a.kind == Origin::kNothing || b.kind == Origin::kNothing) return {};
    if (subtracts_array) return {Origin::kUnknown};
    if (a.kind == Origin::kNumber) return b;
    if (b.kind == Origin::kNumber) return a;
    return {Origin::kUnknown};
  }
  static Origin product(Origin a, Origin b) {
    if (a.kind == Origin::kNothing || b.kind == Origin::kNothing) return {};
    const bool numbers = a.kind == Origin::kNumber && b.kind == Origin::kNumber;
    return {numbers ? Origin::kNumber : Origin::kUnknown};
  }

  // Does the instruction hand on a mask, or part of one?
  bool passes_mask(const Instruction& ins) const {
    static const std::set<std::string> kPass = {"mov", "and",  "or",  "xor",
                                                "not", "selp", "cvt", "lop3"};
    // A coalesced group promises no more than activemask does.
    const std::string& op = ins.statement->name();
    if (op == "activemask") return !ins.where.of_groups;
    return ins.pure && kPass.contains(op) &&
           std::ranges::any_of(ins.sources(),
                               [&](Place p) { return from_activemask(p); });
  }

  std::unordered_map<Place, int> arrays_;
  std::unordered_map<Place, Origin> registers_;
  std::set<Place> active_;
  bool changed_ = false;
};

}  // namespace

void find_origins(Function& function, const Program& program) {
  const Origins origins(function, program);
  for (Instruction& ins : function.code) {
    if (ins.kind == Kind::kCollective && ins.source_count)
      ins.mask_is_active = origins.from_activemask(ins.sources().back());
    else
      for (Address& a : ins.addresses())
        a.array = static_cast<int16_t>(origins.array(a));
  }
}

}  // namespace simt
