// The model of ptxas, its loops: what makes one fit to be unrolled.
#include "common/simt/decode/loops.h"

#include <algorithm>
#include <cmath>

#include "common/simt/core/literals.h"
#include "common/simt/decode/ptxas.h"

namespace simt {
namespace {

bool is_any(const std::string& name, std::initializer_list<const char*> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_instruction(const Statement& s) { return s.label.empty() && !s.scope; }

bool is_branch(const Statement& s) {
  return is_instruction(s) && s.name() == "bra" && s.operands.size() == 1;
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

bool adds_constant(const Statement& s, const std::string& name) {
  return s.name() == "add" && s.guard.empty() && s.op.size() == 2 &&
         s.operands.size() == 3 && s.operands[1].text == name &&
         parse_literal(s.operands[2].text);
}

// What ptxas makes a function of its own that is called.
bool is_call(const Statement& s) {
  if (s.name() == "call") return true;
  if (s.has("approx") || s.has("full")) return false;
  const bool is_integer =
      is_any(s.op.back(), {"u32", "s32", "u16", "s16", "u8", "s8"});
  return is_any(s.name(), {"sqrt", "rcp"}) ||
         (is_any(s.name(), {"div", "rem"}) && !is_integer);
}

// What waits for others, or ends a thread: that stays in a loop whose turns
// nobody knows.
bool waits(const Statement& s) {
  return is_any(s.name(),
                {"ret", "exit", "trap", "atom", "red", "bar", "barrier",
                 "membar", "fence", "shfl", "vote", "match", "redux",
                 "activemask", "nanosleep", "cp", "mbarrier"});
}

std::string state_space(const Statement& s) {
  for (const char* space : {"global", "shared", "local", "param", "const"})
    if (s.has(space)) return space;
  return "generic";
}

// What a loop consists of, between its label and its branch.
struct Body {
  bool closed = true;    // nobody jumps into it, and it declares nothing
  bool straight = true;  // but for one `if` behind the other, without stores
  bool jumps_back = false, calls = false, waits = false;
  int instructions = 0, memory = 0;  // of the machine
  int shared_loads = 0;
  bool loads_global = false;

  int size() const { return instructions + 2 * memory; }
  int most() const {
    return std::max(
        loads_global ? kPtxas13.most_unrolled_with_global_load : 0,
        kPtxas13.most_unrolled + kPtxas13.more_for_shared_load * shared_loads);
  }
};

// Looks through one loop.
class Scan {
 public:
  using Jumps = std::map<std::string, std::vector<size_t>>;

  Scan(const FunctionText& text, const Loop& loop, const Jumps& jumps)
      : text_(text), loop_(loop), jumps_(jumps) {}

  Body run() {
    for (at_ = loop_.label + 1; at_ <= loop_.branch; ++at_) {
      const bool declares = text_.declarations.contains(at_);
      if (declares && depth_ == 0) body_.closed = false;
      if (at_ < loop_.branch) statement(text_.body[at_]);
    }
    if (depth_ != 0) body_.closed = false;
    return body_;
  }

 private:
  void statement(const Statement& s) {
    if (s.scope == '{') {
      ++depth_;
    } else if (s.scope == '}') {
      --depth_;
    } else if (!s.label.empty()) {
      label(s);
    } else if (is_branch(s)) {
      branch(s);
    } else {
      instruction(s);
    }
  }

  void label(const Statement& s) {
    if (const auto known = jumps_.find(s.label); known != jumps_.end())
      for (size_t from : known->second) {
        if (from < loop_.label || from > loop_.branch) body_.closed = false;
        if (from > at_) body_.jumps_back = true;
      }
    if (s.label == if_ends_) if_ends_.clear();
  }

  bool is_ahead(const std::string& label) const {
    for (size_t k = at_ + 1; k < loop_.branch; ++k)
      if (text_.body[k].label == label) return true;
    return false;
  }

  // An `if`, or the jump over its `else`; not a break.
  void branch(const Statement& s) {
    const std::string& to = s.operands[0].text;
    if (to == text_.body[loop_.label].label) body_.jumps_back = true;
    body_.instructions += !s.guard.empty();
    const bool begins = !s.guard.empty() && if_ends_.empty();
    const bool goes_on = s.guard.empty() && !if_ends_.empty() &&
                         text_.body[at_ + 1].label == if_ends_;
    if (!is_ahead(to) || !(begins || goes_on)) body_.straight = false;
    if_ends_ = to;
    // The label before the `else` is not the end.
    if (goes_on) ++at_;
  }

  void instruction(const Statement& s) {
    if (&s == loop_.compares) return;
    if (s.name() == "brx") body_.closed = false;
    if (is_call(s)) body_.calls = true;
    if (waits(s)) body_.waits = true;
    if (s.name() == "ld") return load(s);
    if (s.name() == "st") return store();
    body_.instructions += costs(s);
  }

  void load(const Statement& s) {
    const std::string space = state_space(s);
    if (space == "param" || space == "const") return;
    ++body_.memory;
    if (space == "shared")
      ++body_.shared_loads;
    else
      body_.loads_global = true;
  }

  void store() {
    ++body_.memory;
    if (!if_ends_.empty()) body_.straight = false;
  }

  // Addresses that go on become part of the accesses, and sums of a product
  // are one with it. A product of two words that goes into no sum has two.
  int costs(const Statement& s) const {
    const Statement& next = text_.body[at_ + 1];
    if (s.name() == "mul" && s.has("wide") &&
        !(is_instruction(next) && next.name() == "add"))
      return 2;
    if (s.name() != "add" || s.operands.size() != 3) return price_alone(s);
    const Statement& before = text_.body[at_ - 1];
    const bool completes = is_instruction(before) && !before.operands.empty() &&
                           (before.has("wide") || before.name() == "shl") &&
                           before.operands[0].text == s.operands[2].text;
    return completes || adds_constant(s, s.operands[0].text) ? 0
                                                             : price_alone(s);
  }

  const FunctionText& text_;
  const Loop& loop_;
  const Jumps& jumps_;
  Body body_;
  size_t at_ = 0;
  int depth_ = 0;
  std::string if_ends_;  // The label behind the `if` that we are in.
};

// Is it the comparison of an integer that goes up, or down, to another?
bool leads_to_bound(const Statement& compare, bool up) {
  if (compare.op.size() != 3 || compare.operands.size() != 3) return false;
  return is_any(compare.op[2], {"u32", "s32", "u64", "s64"}) &&
         (is_any(compare.op[1], {"ne"}) ||
          (up ? is_any(compare.op[1], {"lt", "le"})
              : is_any(compare.op[1], {"gt", "ge"})));
}

bool is_of_32_bits(const Statement& compare) {
  return is_any(compare.op[2], {"u32", "s32"});
}

// Does `setp` say that a number comes before another?
bool holds(const Statement& compare, uint64_t a, uint64_t b) {
  const std::string &relation = compare.op[1], &type = compare.op[2];
  if (is_of_32_bits(compare)) {
    a = type == "s32" ? int64_t{static_cast<int32_t>(a)}
                      : uint64_t{static_cast<uint32_t>(a)};
    b = type == "s32" ? int64_t{static_cast<int32_t>(b)}
                      : uint64_t{static_cast<uint32_t>(b)};
  }
  const bool less = type[0] == 's'
                        ? static_cast<int64_t>(a) < static_cast<int64_t>(b)
                        : a < b;
  if (relation == "ne") return a != b;
  if (relation == "lt") return less;
  if (relation == "le") return less || a == b;
  return relation == "gt" ? !less && a != b : !less;
}

// How many turns ptxas writes one after the other where it knows their number.
uint64_t most_turns(int size) {
  const auto& known = kPtxas13.whole_loops;
  const double n = std::max(size, known[0].size);
  size_t k = 1;
  while (k + 1 < std::size(known) && known[k].size < n) ++k;
  const auto &a = known[k - 1], &b = known[k];
  const double part = std::log(n / a.size) / std::log(double(b.size) / a.size);
  return static_cast<uint64_t>(a.turns *
                               std::pow(double(b.turns) / a.turns, part));
}

// Of loops that are longer: so that few turns are left over. Three at once
// would not pay.
uint64_t turns_at_once(int size, uint64_t turns) {
  const uint64_t most = kPtxas13.most_in_part / std::max(size, 1);
  if (most < 4) return 1;
  uint64_t best = most;
  for (uint64_t k = most; k > most / 2; --k)
    if (turns % k < turns % best) best = k;
  return best;
}

}  // namespace

const std::string& Loop::towards() const {
  static const std::string up_to = "lt", down_to = "gt";
  if (!ends_where_equal()) return compares->op[1];
  return up ? up_to : down_to;
}

bool is_never_so(const Statement& compare, uint64_t number) {
  const auto other = parse_literal(compare.operands[2].text);
  return other && other->is_integer() && compare.op.size() == 3 &&
         is_any(compare.op[1], {"lt", "le", "gt", "ge", "ne"}) &&
         is_any(compare.op[2], {"u32", "s32", "u64", "s64"}) &&
         !holds(compare, number, other->as(8));
}

bool is_step(const Statement& s) {
  return is_instruction(s) && !s.operands.empty() &&
         adds_constant(s, s.operands[0].text);
}

Loops::Loops(const FunctionText& text) : text_(text) {
  for (size_t k = 0; k < text.body.size(); ++k)
    if (is_branch(text.body[k]))
      jumps_[text.body[k].operands[0].text].push_back(k);
}

// Does a turn go over it now and then?
bool Loops::is_jumped_over(const Loop& loop, const Statement& s) const {
  const size_t at = &s - text_.body.data();
  for (size_t k = at + 1; k < loop.branch; ++k) {
    const auto jumps = jumps_.find(text_.body[k].label);
    if (jumps == jumps_.end()) continue;
    for (size_t from : jumps->second)
      if (loop.label < from && from < at) return true;
  }
  return false;
}

// Does it count by a constant, in each turn, to a bound that stays as it is?
bool Loops::counts(Loop& loop) const {
  const std::vector<Statement>& body = text_.body;
  const Statement& branch = body[loop.branch];
  loop.compares = writer(body, loop, branch.guard);
  if (!loop.compares || branch.guard_negated || !loop.compares->guard.empty() ||
      loop.compares->name() != "setp" || loop.compares->operands.size() != 3)
    return false;
  const std::string& counter = loop.compares->operands[1].text;
  const Statement* adds = writer(body, loop, counter);
  if (!adds || adds > loop.compares || !adds_constant(*adds, counter) ||
      is_written(body, loop, loop.compares->operands[2].text) ||
      is_jumped_over(loop, *adds) || is_jumped_over(loop, *loop.compares))
    return false;
  const auto step = parse_literal(adds->operands[2].text);
  const int64_t by = adds->type().bytes == 4
                         ? static_cast<int32_t>(step->as(4))
                         : static_cast<int64_t>(step->as(8));
  loop.up = by > 0;
  loop.step = loop.up ? by : -by;
  return loop.step != 0 && loop.step < 1 << 28 &&
         leads_to_bound(*loop.compares, loop.up);
}

// What its counter is when it begins, if the code in front of it says so.
std::optional<uint64_t> Loops::beginning(const Loop& loop) const {
  const std::string& counter = loop.compares->operands[1].text;
  for (size_t k = loop.label; k-- > 0;) {
    const Statement& s = text_.body[k];
    if (!s.label.empty() || (is_branch(s) && s.guard.empty())) return {};
    if (s.scope || !writes(s, counter)) continue;
    if (s.name() != "mov" || !s.guard.empty()) return {};
    const auto literal = parse_literal(s.operands[1].text);
    if (!literal || !literal->is_integer()) return {};
    return literal->as(8);
  }
  return {};
}

void Loops::count_turns(Loop& loop) const {
  const auto bound = parse_literal(loop.compares->operands[2].text);
  const auto first = beginning(loop);
  if (!bound || !first) return;
  const uint64_t by = loop.up ? loop.step : -loop.step;
  uint64_t turns = 0, counter = *first;
  do {
    counter += by;
    ++turns;
  } while (turns <= kPtxas13.most_turns_known &&
           holds(*loop.compares, counter, bound->as(8)));
  if (turns <= kPtxas13.most_turns_known) loop.turns = turns;
}

bool Loops::unrolls(Loop& loop) const {
  const Body body = Scan(text_, loop, jumps_).run();
  if (!body.closed || body.jumps_back || body.calls) return false;
  if (loop.turns != 0 && loop.turns <= most_turns(body.size())) {
    loop.at_once = loop.turns;
    return true;
  }
  if (!body.straight) return false;
  if (loop.turns != 0) {
    loop.at_once = turns_at_once(body.size(), loop.turns);
    return loop.at_once > 1;
  }
  return !body.waits && body.size() <= body.most();
}

std::optional<Loop> Loops::ending_at(size_t branch) const {
  const Statement& s = text_.body[branch];
  if (!is_branch(s) || s.guard.empty() || s.left_out) return {};
  const std::string& label = s.operands[0].text;
  if (jumps_.at(label).size() != 1) return {};
  size_t k = branch;
  while (k > 0 && text_.body[k].label != label) --k;
  Loop loop{k, branch};
  if (text_.body[k].label != label || !counts(loop)) return {};
  const auto stays = text_.stay_loops.upper_bound(k);
  if (stays != text_.stay_loops.end() && *stays <= branch) return {};
  count_turns(loop);
  if (!unrolls(loop)) return {};
  return loop;
}

}  // namespace simt
