// Where values come from, as far as a look at the PTX can tell: which shared
// array an address was made of, which member masks came from activemask.
//
// A register has one origin for the whole function; what is not certain counts
// as unknown and is never reported.
#include <algorithm>
#include <set>

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
  Origins(const FunctionText& text, const Program& program) {
    for (size_t k = 0; k < program.shared_arrays.size(); ++k)
      arrays_[program.shared_arrays[k].name] = static_cast<int>(k);
    std::vector<const Statement*> statements;
    for (const Statement& s : text.body)
      if (s.label.empty() && s.scope == 0 && writes_register(s))
        statements.push_back(&s);
    for (const Statement* s : statements) {
      registers_[s->operands[0].text];
      for (const std::string& one : s->operands[0].list) registers_[one];
    }
    do {
      changed_ = false;
      for (const Statement* s : statements) visit(*s);
    } while (changed_);
  }

  // The number of the shared array that the operand points into; or -1.
  int array(const Operand& o) const {
    const Origin origin = of(o.text);
    return origin.kind == Origin::kArray ? origin.array : -1;
  }
  bool from_activemask(const Operand& o) const {
    return active_.contains(o.text);
  }

 private:
  Origin of(const std::string& name) const {
    if (const auto a = arrays_.find(name); a != arrays_.end())
      return {Origin::kArray, a->second};
    const auto known = registers_.find(name);
    if (known != registers_.end()) return known->second;
    return {Origin::kNumber};  // a literal, or a special register
  }

  static bool writes_register(const Statement& s) {
    static const std::set<std::string> kNone = {"st",  "red",  "bra", "brx",
                                                "ret", "exit", "call"};
    return !s.op.empty() && !s.operands.empty() && !s.operands[0].address &&
           !kNone.contains(s.name());
  }

  void visit(const Statement& s) {
    const Operand& to = s.operands[0];
    const Origin value = result(s);
    define(to.text, value);
    for (const std::string& one : to.list)
      define(one,
             value.kind == Origin::kArray ? Origin{Origin::kUnknown} : value);
    if (passes_mask(s)) taint(to.text);
  }

  void define(const std::string& name, Origin value) {
    Origin& known = registers_[name];
    const Origin merged = merge(known, value);
    changed_ |= !(merged == known);
    known = merged;
  }

  Origin result(const Statement& s) const {
    const std::string& op = s.name();
    const auto in = [&](size_t k) {
      return k < s.operands.size() ? of(s.operands[k].text) : Origin{};
    };
    if (op == "mov" || op == "cvta" || op == "cvt") {
      const bool packs = !s.operands.at(1).list.empty();
      return packs ? Origin{Origin::kUnknown} : in(1);
    }
    if (op == "add") return sum(in(1), in(2));
    if (op == "sub") return sum(in(1), in(2), in(2).kind == Origin::kArray);
    if (op == "mad") return sum(product(in(1), in(2)), in(3));
    if (op == "selp") return merge(in(1), in(2));
    if (op == "ld" || op == "ldu" || op == "atom") return {Origin::kNumber};
    Origin all{Origin::kNumber};
    for (size_t k = 1; k < s.operands.size(); ++k) all = product(all, in(k));
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

  // Does the statement hand on a mask, or part of one?
  bool passes_mask(const Statement& s) const {
    static const std::set<std::string> kPass = {"mov", "and",  "or",  "xor",
                                                "not", "selp", "cvt", "lop3"};
    // A coalesced group promises no more than activemask does.
    if (s.name() == "activemask") return !s.where.of_groups;
    return kPass.contains(s.name()) &&
           std::any_of(s.operands.begin() + 1, s.operands.end(),
                       [&](const Operand& o) { return from_activemask(o); });
  }
  void taint(const std::string& name) {
    changed_ |= active_.insert(name).second;
  }

  std::map<std::string, int> arrays_;
  std::map<std::string, Origin> registers_;
  std::set<std::string> active_;
  bool changed_ = false;
};

}  // namespace

void find_origins(Function& function, const Program& program) {
  const Origins origins(*function.text, program);
  for (Instruction& ins : function.code) {
    if (!ins.statement) continue;
    const Statement& s = *ins.statement;
    if (ins.kind == Kind::kCollective) {
      ins.mask_is_active = origins.from_activemask(s.operands.back());
      continue;
    }
    size_t k = 0;  // Loads of parameters have no address any more.
    for (const Operand& o : s.operands)
      if (o.address && k < ins.address_count)
        ins.addresses()[k++].array = static_cast<int16_t>(origins.array(o));
  }
}

}  // namespace simt
