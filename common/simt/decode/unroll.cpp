// The model of ptxas, its loops: one that counts to a bound becomes a loop of
// four turns at once, and behind it two turns and one for those who still need
// them. Lanes that make different numbers of turns so meet at other turns. A
// loop whose turns are known becomes all of its turns, one behind the other.
//
// All of it is PTX again, which is decoded as if nvcc had written it.
#include <algorithm>
#include <set>

#include "common/simt/decode/loops.h"
#include "common/simt/decode/ptxas.h"

namespace simt {
namespace {

// Registers of our own: a distance, and whether it allows more turns; whether
// the loop has made no turn yet, whose condition comes last.
const std::string kLeft = "%unrolled_left", kMore = "%unrolled_more",
                  kFresh = "%unrolled_fresh";

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
    if (loop.turns == 0) return unroll_unknown(loop);
    for (uint64_t k = loop.turns % loop.at_once; k > 0; --k) turn();
    if (!loop.vanishes()) copy(loop.label, loop.label + 1);
    for (uint64_t k = 1; k < loop.at_once; ++k) turn();
    copy(loop.label + 1, loop.branch + !loop.vanishes());
  }

  FunctionText finish() {
    declare(from_.body.size());
    return std::move(to_);
  }

 private:
  void declare(size_t k) {
    const auto known = from_.declarations.find(k);
    if (known != from_.declarations.end() && declared_.insert(k).second) {
      auto& here = to_.declarations[to_.body.size()];
      here.insert(here.end(), known->second.begin(), known->second.end());
    }
    if (from_.stay_loops.contains(k)) to_.stay_loops.insert(to_.body.size());
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
    const bool reaches = compare.op[1] == "le" || compare.op[1] == "ge";
    emit(reaches ? "setp.ge.u32" : "setp.gt.u32",
         {kMore, kLeft, std::to_string(loop_->step * (turns - 1))});
    emit("setp." + compare.op[1] + ".and." + compare.op[2],
         {kMore, counter, bound, kMore});
  }
  void branch_unless(int turns, const std::string& to) {
    more_than(turns);
    branch(kMore, true, to);
  }

  void unroll_unknown(const Loop& loop) {
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

  void turns(int count) {
    emit("setp.ne.u32", {kFresh, "0", "0"});
    for (int k = 0; k < count; ++k) turn();
  }

  // A turn that another one follows, with labels of its own. Whether it was
  // the last, nobody asks.
  void turn() {
    const size_t first = to_.body.size();
    copy(loop_->label + 1, loop_->branch);
    std::set<std::string> own;
    for (size_t k = first; k < to_.body.size(); ++k)
      if (!to_.body[k].label.empty()) own.insert(to_.body[k].label);
    const std::string suffix = "_turn" + std::to_string(++turns_);
    for (size_t k = first; k < to_.body.size(); ++k) {
      Statement& s = to_.body[k];
      if (!s.label.empty()) s.label += suffix;
      if (s.label.empty() && !s.scope && s.name() == "bra" &&
          own.contains(s.operands[0].text))
        s.operands[0].text += suffix;
    }
  }

  const FunctionText& from_;
  FunctionText to_;
  const Loop* loop_ = nullptr;
  uint64_t turns_ = 0;
  std::set<size_t> declared_;  // A copy has the registers of the original.
};

std::optional<FunctionText> unroll_once(const FunctionText& text) {
  const Loops loops(text);
  Writer writer(text);
  size_t copied = 0;
  for (size_t k = 0; k < text.body.size(); ++k) {
    const std::optional<Loop> loop = loops.ending_at(k);
    if (!loop) continue;
    writer.copy(copied, loop->label);
    writer.unroll(*loop);
    copied = k + 1;
  }
  if (copied == 0) return {};
  writer.copy(copied, text.body.size());
  return writer.finish();
}

void declare_own(FunctionText& text) {
  for (const std::string& name : {kLeft, kMore, kFresh}) {
    Declaration d;
    d.space = "reg";
    d.name = name;
    d.type = name == kLeft ? Type{'b', 4} : Type{'p', 0};
    text.declarations[0].push_back(d);
  }
}

}  // namespace

std::optional<FunctionText> unroll_loops(const FunctionText& text) {
  std::optional<FunctionText> unrolled = unroll_once(text);
  if (!unrolled) return {};
  // Where an inner loop is gone, the outer one may go, too.
  while (auto further = unroll_once(*unrolled)) unrolled = std::move(further);
  declare_own(*unrolled);
  return unrolled;
}

}  // namespace simt
