// The model of ptxas, its loops: one that counts to a bound becomes a loop of
// four turns at once, and behind it two turns and one for those who still need
// them. Lanes that make different numbers of turns so meet at other turns. A
// loop whose turns are known becomes all of its turns, one behind the other.
//
// All of it is PTX again, which is decoded as if nvcc had written it.
#include <algorithm>
#include <map>
#include <set>

#include "common/simt/core/literals.h"
#include "common/simt/decode/loops.h"
#include "common/simt/decode/ptxas.h"

namespace simt {
namespace {

// Registers of our own: a distance, and whether it allows more turns; whether
// the loop has made no turn yet, whose condition comes last.
const std::string kLeft = "%unrolled_left", kLeftWide = "%unrolled_left_wide",
                  kMore = "%unrolled_more", kFresh = "%unrolled_fresh";

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
  Statement& branch(const std::string& guard, bool negated,
                    const std::string& to) {
    Statement& s = emit("bra", {to});
    s.guard = guard;
    s.guard_negated = negated;
    return s;
  }

  Statement& compare(const std::string& relation,
                     const std::vector<std::string>& operands) {
    return emit("setp." + relation + "." + loop_->compares->op[2], operands);
  }
  // Are there so many turns left, whatever comes? Within the loop, ptxas knows
  // what the counter must not reach.
  void more_than(int turns, bool within) {
    const std::string bits = loop_->is_wide() ? "64" : "32";
    const std::string& left = loop_->is_wide() ? kLeftWide : kLeft;
    const std::string &from = loop_->up ? bound() : counter(),
                      &to = loop_->up ? counter() : bound();
    emit("sub.u" + bits, {left, from, to}).left_out = within;
    const std::string& relation = loop_->compares->op[1];
    const bool reaches = relation == "le" || relation == "ge";
    emit((reaches ? "setp.ge.u" : "setp.gt.u") + bits,
         {kMore, left, std::to_string(loop_->step * (turns - 1))});
    compare(loop_->towards() + ".and", {kMore, counter(), bound(), kMore})
        .left_out = !within;
    if (within) to_.body[to_.body.size() - 2].left_out = true;
  }
  void branch_unless(int turns, const std::string& to) {
    more_than(turns, false);
    branch(kMore, true, to).over_turns = OverTurns::kLast;
  }

  // Are we on this side of the bound? Whether an unsigned counter begins
  // beyond it is found out by a turn, and that of a loop that ends where both
  // are equal goes the whole way round, turn by turn.
  void begin_beyond(const std::string& name) {
    if (!loop_->is_signed()) {
      compare(loop_->towards(), {kMore, counter(), bound()});
      branch(kMore, false, name + "_before").over_turns = OverTurns::kFirst;
      has_begun();
      turns(1);
      label(name + "_before");
    } else if (loop_->ends_where_equal()) {
      compare(loop_->towards(), {kMore, counter(), bound()});
      branch(kMore, true, name + "_round");
    }
  }

  void unroll_unknown(const Loop& loop) {
    const std::string name = from_.body[loop.label].label + "_unrolled";
    if (!loop.ends_where_equal()) copy(loop.label, loop.label + 1);
    emit("setp.eq.u32", {kFresh, "0", "0"});
    begin_beyond(name);
    branch_unless(4, name + "_two");
    has_begun();
    label(name);
    turns(4);
    more_than(4, true);
    branch(kMore, false, name);
    label(name + "_two");
    branch_unless(2, name + "_one");
    has_begun();
    turns(2);
    label(name + "_one");
    compare(loop.compares->op[1] + ".or", {kMore, counter(), bound(), kFresh});
    branch(kMore, true, name + "_end").over_turns = OverTurns::kLast;
    if (loop.ends_where_equal()) {
      label(name + "_round");
      copy(loop.label, loop.label + 1);
      to_.stay_loops.insert(to_.body.size());
      copy(loop.label + 1, loop.branch + 1);
    } else {
      last_turn();
    }
    label(name + "_end");
  }

  void has_begun() { emit("setp.ne.u32", {kFresh, "0", "0"}); }

  void turns(int count) {
    const size_t first = to_.body.size();
    for (int k = 0; k < count; ++k) turn();
    leave_out_steps(first, count - 1);
  }

  // Unless the counter comes round past zero, there is none behind it.
  void last_turn() {
    const size_t first = to_.body.size();
    copy(loop_->label + 1, loop_->branch + 1);
    to_.body.back().left_out = true;
    leave_out_steps(first, 1);
  }

  // Of the turns from `first` on, nobody asks whether they were the last, and
  // so many times what counts in each of them goes into other instructions.
  void leave_out_steps(size_t first, int count) {
    std::map<std::string, int> left;
    std::string if_ends;  // the label behind the `if` that we are in
    for (size_t k = first; k < to_.body.size(); ++k) {
      Statement& s = to_.body[k];
      if (s.label == if_ends) if_ends.clear();
      if (s.scope || !s.label.empty()) continue;
      if (s.text == loop_->compares->text) s.left_out = true;
      if (s.name() == "bra") if_ends = s.operands[0].text;
      if (if_ends.empty() && is_step(s))
        s.left_out = left.try_emplace(s.text, count).first->second-- > 0;
    }
  }

  const std::string& counter() const {
    return loop_->compares->operands[1].text;
  }
  const std::string& bound() const { return loop_->compares->operands[2].text; }

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

// Does a register hold at `at` what it was given first? Nothing else has
// written it yet, and no jump leads back from where something does.
bool is_as_first_written(const FunctionText& text, const std::string& name,
                         size_t at) {
  const auto& body = text.body;
  std::set<std::string> labels;  // up to here
  int writers = 0;
  for (size_t k = 0; k < body.size(); ++k) {
    const Statement& s = body[k];
    if (!s.label.empty() && k <= at) labels.insert(s.label);
    if (!s.label.empty() || s.scope || s.operands.empty()) continue;
    writers += s.operands[0].text == name && !s.operands[0].address;
    if (k < at && writers > 1) return false;
    if (writers > 1 && s.name() == "bra" && labels.contains(s.operands[0].text))
      return false;
  }
  return true;
}

// Branches that are never taken, since they compare two numbers: nvcc leaves
// WARP_SZ to ptxas.
bool leave_out_known_tests(FunctionText& text) {
  std::map<std::string, uint64_t> numbers;
  std::map<std::string, Statement*> never;
  bool changed = false;
  for (size_t k = 0; k < text.body.size(); ++k) {
    Statement& s = text.body[k];
    if (!s.label.empty() || s.scope || s.operands.empty()) continue;
    const std::string& to = s.operands[0].text;
    if (s.name() == "mov" && s.operands.size() == 2 && s.guard.empty()) {
      const auto number = parse_literal(s.operands[1].text);
      if (number && number->is_integer()) numbers.emplace(to, number->as(8));
    } else if (s.name() == "setp" && s.operands.size() == 3) {
      const auto known = numbers.find(s.operands[1].text);
      if (known != numbers.end() && is_never_so(s, known->second) &&
          is_as_first_written(text, known->first, k))
        never[to] = &s;
      else
        never.erase(to);
    } else if (s.name() == "bra" && !s.guard_negated &&
               never.contains(s.guard)) {
      s.left_out = never[s.guard]->left_out = changed = true;
    }
  }
  return changed;
}

void declare_own(FunctionText& text) {
  for (const std::string& name : {kLeft, kLeftWide, kMore, kFresh}) {
    Declaration d;
    d.space = "reg";
    d.name = name;
    d.type = name == kLeft       ? Type{'b', 4}
             : name == kLeftWide ? Type{'b', 8}
                                 : Type{'p', 0};
    text.declarations[0].push_back(d);
  }
}

}  // namespace

std::optional<FunctionText> unroll_loops(const FunctionText& text) {
  FunctionText known = text;
  const bool changed = leave_out_known_tests(known);
  std::optional<FunctionText> unrolled = unroll_once(known);
  if (!unrolled && changed) return known;
  if (!unrolled) return {};
  // Where an inner loop is gone, the outer one may go, too.
  while (auto further = unroll_once(*unrolled)) unrolled = std::move(further);
  declare_own(*unrolled);
  return unrolled;
}

}  // namespace simt
