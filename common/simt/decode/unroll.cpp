// The model of ptxas, its loops: one that counts to a bound becomes a loop of
// four turns at once, and behind it two turns and one for those who still need
// them. Lanes that make different numbers of turns so meet at other turns.
//
// All of it is PTX again, which is decoded as if nvcc had written it.
#include <algorithm>

#include "common/simt/core/literals.h"
#include "common/simt/core/settings.h"
#include "common/simt/decode/ptxas.h"

namespace simt {
namespace {

// Registers of our own: a distance, and whether it allows more turns; whether
// the loop has made no turn yet, whose condition comes last.
const std::string kLeft = "%unrolled_left", kMore = "%unrolled_more",
                  kFresh = "%unrolled_fresh";

// Statements from a label to the branch that jumps back to it.
struct Loop {
  size_t label, branch;
  const Statement* compares = nullptr;  // setp.lt.u32 %p1, %r1, %r2;
  uint64_t step = 0;                    // of its first operand,
  bool up = true;                       // or down
};

bool is_any(const std::string& name, std::initializer_list<const char*> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_branch(const Statement& s) {
  return s.label.empty() && !s.scope && s.name() == "bra" &&
         s.operands.size() == 1;
}

bool writes(const Statement& s, const std::string& name) {
  if (s.operands.empty() || s.operands[0].address) return false;
  const Operand& to = s.operands[0];
  return to.text == name || to.second == name ||
         std::find(to.list.begin(), to.list.end(), name) != to.list.end();
}

// The only statement of a loop that writes there; null if there is none, or
// another one.
const Statement* writer(const std::vector<Statement>& body, const Loop& loop,
                        const std::string& name) {
  const Statement* found = nullptr;
  for (size_t k = loop.label + 1; k < loop.branch; ++k) {
    if (!writes(body[k], name)) continue;
    if (found) return nullptr;
    found = &body[k];
  }
  return found;
}

bool is_written(const std::vector<Statement>& body, const Loop& loop,
                const std::string& name) {
  return std::any_of(body.begin() + loop.label + 1, body.begin() + loop.branch,
                     [&](const Statement& s) { return writes(s, name); });
}

// What ptxas leaves in a loop: it waits for others, or becomes long.
bool may_repeat(const Statement& s) {
  const std::string& op = s.name();
  if (is_any(op, {"bra",    "brx",        "ret",       "exit", "call",
                  "trap",   "atom",       "red",       "bar",  "barrier",
                  "membar", "fence",      "shfl",      "vote", "match",
                  "redux",  "activemask", "nanosleep", "cp",   "mbarrier"}))
    return false;
  return !is_any(op, {"div", "rem", "sqrt", "rcp"}) || s.has("approx") ||
         s.has("full");
}

bool is_store(const Statement& s) { return s.name() == "st"; }
bool is_load(const Statement& s) { return s.name() == "ld"; }

// Straight on from the label to the branch, short, and not to be left alone?
bool may_unroll(const FunctionText& text, const Loop& loop) {
  const auto first = text.body.begin() + loop.label + 1,
             last = text.body.begin() + loop.branch;
  const bool plain = std::all_of(first, last, [](const Statement& s) {
    return s.label.empty() && !s.scope && may_repeat(s);
  });
  if (!plain) return false;
  const bool stores = std::any_of(first, last, is_store);
  if (stores && std::any_of(first, last, is_load)) return false;
  const auto is_within = [&](const auto& known, auto of) {
    const auto next = known.upper_bound(loop.label);
    return next != known.end() && of(*next) <= loop.branch;
  };
  if (is_within(text.stay_loops, [](size_t at) { return at; }) ||
      is_within(text.declarations, [](auto& at) { return at.first; }))
    return false;
  return last - first + 1 <=
         (stores ? kPtxas13.most_unrolled_with_store : kPtxas13.most_unrolled);
}

// Is it the comparison of a number of 32 bits that goes up, or down, to
// another?
bool leads_to_bound(const Statement& compare, bool up) {
  if (compare.op.size() != 3 || compare.operands.size() != 3) return false;
  const std::string& type = compare.op[2];
  return is_any(type, {"u32", "s32"}) &&
         (is_any(compare.op[1], {"ne"}) ||
          (up ? is_any(compare.op[1], {"lt", "le"})
              : is_any(compare.op[1], {"gt", "ge"})));
}

// Does it count by a constant to a bound that stays as it is?
bool counts(const std::vector<Statement>& body, Loop& loop) {
  const Statement& branch = body[loop.branch];
  loop.compares = writer(body, loop, branch.guard);
  if (!loop.compares || branch.guard_negated || !loop.compares->guard.empty() ||
      loop.compares->name() != "setp" || loop.compares->operands.size() != 3)
    return false;
  const std::string& counter = loop.compares->operands[1].text;
  const Statement* adds = writer(body, loop, counter);
  if (!adds || adds > loop.compares || adds->name() != "add" ||
      !adds->guard.empty() || adds->op.size() != 2 ||
      adds->operands.size() != 3 || adds->operands[1].text != counter ||
      is_written(body, loop, loop.compares->operands[2].text))
    return false;
  const auto step = parse_literal(adds->operands[2].text);
  if (!step || step->as(4) == 0) return false;
  const auto by = static_cast<int32_t>(step->as(4));
  loop.up = by > 0;
  loop.step = loop.up ? by : -int64_t{by};
  // nvcc has unrolled it already if it takes several steps until both are
  // equal.
  if (loop.step > 1 && loop.compares->op[1] == "ne") return false;
  return loop.step < 1 << 28 && leads_to_bound(*loop.compares, loop.up);
}

Operand operand(const std::string& text) {
  Operand o;
  o.text = text;
  return o;
}

// Writes a function anew, statement by statement.
class Writer {
 public:
  explicit Writer(const FunctionText& text) : from_(text), to_(text) {
    to_.body.clear();
    to_.declarations.clear();
    to_.stay_loops.clear();
  }

  void copy(size_t first, size_t end) {
    for (size_t k = first; k < end; ++k) {
      declare(k);
      to_.body.push_back(from_.body[k]);
    }
  }

  void unroll(const Loop& loop) {
    loop_ = &loop;
    const std::string name = from_.body[loop.label].label + "_unrolled";
    copy(loop.label, loop.label + 1);
    emit("setp.eq.u32", {kFresh, "0", "0"});
    branch_unless(4, name + "_two");
    label(name);
    turns(4);
    more_than(4);
    branch(kMore, false, name);
    label(name + "_two");
    branch_unless(2, name + "_one");
    turns(2);
    label(name + "_one");
    const std::vector<Operand>& operands = loop.compares->operands;
    emit(loop.compares->op[0] + "." + loop.compares->op[1] + ".or." +
             loop.compares->op[2],
         {kMore, operands[1].text, operands[2].text, kFresh});
    branch(kMore, true, name + "_end");
    copy(loop.label + 1, loop.branch + 1);
    // Unless the counter comes round past zero, this turn was the last.
    to_.body.back().left_out = true;
    label(name + "_end");
  }

  FunctionText finish() {
    declare(from_.body.size());
    for (const std::string& name : {kLeft, kMore, kFresh}) {
      Declaration d;
      d.space = "reg";
      d.name = name;
      d.type = name == kLeft ? Type{'b', 4} : Type{'p', 0};
      to_.declarations[0].push_back(d);
    }
    return std::move(to_);
  }

 private:
  void declare(size_t k) {
    if (const auto known = from_.declarations.find(k);
        known != from_.declarations.end()) {
      auto& here = to_.declarations[to_.body.size()];
      here.insert(here.end(), known->second.begin(), known->second.end());
    }
  }

  Statement& emit(const std::string& op,
                  const std::vector<std::string>& operands) {
    Statement s;
    s.text = op;
    for (size_t at = 0; at <= op.size();) {
      const size_t end = std::min(op.find('.', at), op.size());
      s.op.push_back(op.substr(at, end - at));
      at = end + 1;
    }
    for (const std::string& text : operands)
      s.operands.push_back(operand(text));
    s.where = from_.body[loop_->branch].where;
    return to_.body.emplace_back(std::move(s));
  }
  void label(const std::string& name) {
    Statement s;
    s.label = name;
    to_.body.push_back(std::move(s));
  }
  void branch(const std::string& guard, bool negated, const std::string& to) {
    Statement& s = emit("bra", {to});
    s.guard = guard;
    s.guard_negated = negated;
  }

  // Are there so many turns left, whatever comes?
  void more_than(int turns) {
    const Statement& compare = *loop_->compares;
    const std::string &counter = compare.operands[1].text,
                      &bound = compare.operands[2].text;
    const bool up = loop_->up;
    emit("sub.u32", {kLeft, up ? bound : counter, up ? counter : bound});
    const bool reaches = is_any(compare.op[1], {"le", "ge"});
    emit(reaches ? "setp.ge.u32" : "setp.gt.u32",
         {kMore, kLeft, std::to_string(loop_->step * (turns - 1))});
    emit("setp." + compare.op[1] + ".and." + compare.op[2],
         {kMore, counter, bound, kMore});
  }
  void branch_unless(int turns, const std::string& to) {
    more_than(turns);
    branch(kMore, true, to);
  }
  void turns(int count) {
    emit("setp.ne.u32", {kFresh, "0", "0"});
    for (int k = 0; k < count; ++k) copy(loop_->label + 1, loop_->branch);
  }

  const FunctionText& from_;
  FunctionText to_;
  const Loop* loop_ = nullptr;
};

// The loop that ends with this branch, if it is one that ptxas unrolls.
std::optional<Loop> unrolled_loop(const FunctionText& text, size_t branch) {
  const Statement& s = text.body[branch];
  if (!is_branch(s) || s.guard.empty()) return {};
  for (size_t k = branch; k-- > 0;) {
    if (text.body[k].label.empty()) continue;
    Loop loop{k, branch};
    const bool is_loop = text.body[k].label == s.operands[0].text;
    if (is_loop && may_unroll(text, loop) && counts(text.body, loop))
      return loop;
    return {};
  }
  return {};
}

}  // namespace

std::optional<FunctionText> unroll_loops(const FunctionText& text) {
  if (!settings::ptxas_model()) return {};
  Writer writer(text);
  size_t copied = 0;
  for (size_t k = 0; k < text.body.size(); ++k) {
    const std::optional<Loop> loop = unrolled_loop(text, k);
    if (!loop) continue;
    writer.copy(copied, loop->label);
    writer.unroll(*loop);
    copied = k + 1;
  }
  if (copied == 0) return {};
  writer.copy(copied, text.body.size());
  return writer.finish();
}

}  // namespace simt
