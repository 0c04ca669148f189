// What becomes of the values that loads bring, as far as a look at the code can
// tell: which loads wait for a value to change, which are guesses that a
// compare-and-swap verifies, which only test a word, which lanes drop it.
//
// What is not certain counts as an ordinary load.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>

#include "common/simt/decode/analysis.h"
#include "common/simt/decode/dominators.h"
#include "common/simt/decode/written_out.h"

namespace simt {
namespace {

// A set of few, of which there is one for each instruction that a value passes.
class Places {
 public:
  bool insert(Place place) {
    const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), place);
    if (at != sorted_.end() && *at == place) return false;
    sorted_.insert(at, place);
    return true;
  }
  void erase(Place place) { std::erase(sorted_, place); }
  bool contains(Place place) const {
    return std::binary_search(sorted_.begin(), sorted_.end(), place);
  }
  // Whether some were new.
  bool merge(const Places& more) {
    if (std::includes(sorted_.begin(), sorted_.end(), more.sorted_.begin(),
                      more.sorted_.end()))
      return false;
    std::vector<Place> both;
    both.reserve(sorted_.size() + more.sorted_.size());
    std::set_union(sorted_.begin(), sorted_.end(), more.sorted_.begin(),
                   more.sorted_.end(), std::back_inserter(both));
    sorted_ = std::move(both);
    return true;
  }
  bool empty() const { return sorted_.empty(); }
  const std::vector<Place>& sorted() const { return sorted_; }

 private:
  std::vector<Place> sorted_;
};

bool is(const Instruction& ins, const char* name) {
  return ins.statement && ins.statement->name() == name;
}
// A kernel's parameter is no load: it is a constant, copied.
bool is_load(const Instruction& ins) {
  return !ins.pure && (is(ins, "ld") || is(ins, "ldu"));
}
bool is_store(const Instruction& ins) {
  return is(ins, "st") && !ins.statement->has("async");
}
// Of a register, or of a kernel's parameter. A mov may also take apart or join.
bool copies(const Instruction& ins) {
  return ins.pure && (is(ins, "mov") || is(ins, "ld")) &&
         ins.result_count == 1 && ins.source_count == 1;
}
// Of a condition, which may be negated on the way.
bool hands_on_condition(const Instruction& ins) {
  return ins.pure && (is(ins, "mov") || is(ins, "not")) &&
         ins.statement->has("pred");
}
// Memory that other threads may write.
bool meets_others(Space space) {
  return space != Space::kLocal && space != Space::kParam &&
         space != Space::kConst;
}
// An atomic that only reads: it adds nothing, or sets no bit.
bool only_reads(const Instruction& ins, const Program& program) {
  return is(ins, "atom") &&
         (ins.statement->has("add") || ins.statement->has("or")) &&
         ins.source_count == 1 && program.zeros.contains(ins.source(0));
}
bool is_swap(const Instruction& ins) {
  return is(ins, "atom") && ins.statement->has("cas");
}

std::vector<Place> written(const Instruction& ins) {
  std::vector<Place> places(ins.results().begin(), ins.results().end());
  std::erase(places, kNowhere);
  return places;
}

std::vector<Place> read(const Instruction& ins) {
  std::vector<Place> places(ins.sources().begin(), ins.sources().end());
  for (const Address& a : ins.addresses()) places.push_back(a.base);
  std::erase(places, kNowhere);
  return places;
}

bool any_of(const std::vector<Place>& places, const Places& set) {
  return std::any_of(places.begin(), places.end(),
                     [&](Place p) { return set.contains(p); });
}

// The instructions that come after those of `open`, with themselves, on ways
// that do not go on behind one for which `ends`.
template <class Ends>
std::vector<bool> reach(const Function& f, std::vector<uint32_t> open,
                        Ends ends) {
  std::vector<bool> seen(f.code.size());
  while (!open.empty()) {
    const uint32_t pc = open.back();
    open.pop_back();
    if (seen[pc]) continue;
    seen[pc] = true;
    if (ends(pc)) continue;
    for (uint32_t next : successors(f, pc)) open.push_back(next);
  }
  return seen;
}

// Where the places of a function get their values.
class Definitions {
 public:
  Definitions(const Function& f, const Program& program)
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

  // The only instruction that writes the place.
  std::optional<uint32_t> only(Place place) const {
    const auto known = of_.find(place);
    if (known == of_.end() || known->second.size() != 1) return {};
    return known->second.front();
  }

  // The number or parameter of which the place holds a copy; or the place.
  Place fixed(Place place) const {
    const std::optional<uint32_t> pc = only(place);
    if (!pc) return place;
    const Instruction& ins = f_.code[*pc];
    const bool copy = ins.guard == kNowhere && copies(ins);
    return copy && ins.source(0) < kNowhere ? ins.source(0) : place;
  }

  // The same in all threads, once it is there?
  bool uniform(Place place, int depth = kSteps) const {
    if (place < 0) return !differing_.contains(place);
    const std::optional<uint32_t> pc = only(place);
    if (!pc || depth == 0) return false;
    const Instruction& ins = f_.code[*pc];
    if (!ins.pure || ins.guard != kNowhere) return false;
    const std::vector<Place> sources = read(ins);
    return std::all_of(sources.begin(), sources.end(),
                       [&](Place p) { return uniform(p, depth - 1); });
  }

  // How a place that is uniform was computed, from numbers and parameters. Two
  // sums are alike if what they add is; of most instructions only the same one.
  std::string formula(Place place) const {
    if (place < 0) return std::to_string(place);
    const uint32_t pc = *only(place);
    const Instruction& ins = f_.code[pc];
    if (copies(ins)) return formula(ins.source(0));
    if (!is(ins, "add")) return "at " + std::to_string(pc);
    std::string text = ins.statement->op.back();
    for (Place p : ins.sources()) text += " (" + formula(p) + ")";
    return text;
  }

  // Is it the same in each turn of a loop? Not optimised, an address is
  // computed in each of them.
  bool stays(Place place, const std::set<uint32_t>& loop,
             int depth = kSteps) const {
    const auto writers = of_.find(place);
    if (writers == of_.end() ||
        std::ranges::none_of(writers->second,
                             [&](uint32_t pc) { return loop.contains(pc); }))
      return true;
    const std::optional<uint32_t> pc = only(place);
    if (!pc || depth == 0) return false;
    const Instruction& ins = f_.code[*pc];
    if (!ins.pure || ins.guard != kNowhere) return false;
    const std::vector<Place> sources = read(ins);
    return std::ranges::all_of(
        sources, [&](Place p) { return stays(p, loop, depth - 1); });
  }

  bool dominates(uint32_t first, uint32_t pc) const {
    return dominators_.dominates(first, pc);
  }

  // Is it there whenever control comes to `pc`, and does not change?
  bool settled(Place place, uint32_t pc) const {
    if (place < 0) return true;
    const std::optional<uint32_t> writer = only(place);
    if (!writer || f_.code[*writer].guard != kNowhere) return false;
    return *writer != pc && dominates(*writer, pc);
  }

  // What there is at `pc`, or a sum of it and a number: not optimised, that is
  // computed where it is needed.
  struct Sum {
    Place place;
    int64_t added = 0;
  };
  std::optional<Sum> settled_sum(Place place, uint32_t pc) const {
    if (settled(place, pc)) return Sum{place};
    const auto writer = only(place);
    if (!writer || f_.code[*writer].guard != kNowhere) return {};
    const auto number = added_number(f_.code[*writer]);
    const Place to = number ? f_.code[*writer].source(0) : kNowhere;
    if (to == kNowhere || !settled(to, pc)) return {};
    return Sum{to, *number};
  }

  // An address without the numbers that were added to it on the way.
  struct Origin {
    Place base;
    int64_t offset;
    bool operator==(const Origin&) const = default;
  };
  Origin address(const Instruction& access) const {
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
    result.base = first_alike(result.base);
    return result;
  }

  // Does the instruction change what an address was computed from? The address
  // itself may be computed once more: it is the same.
  bool moves(const Instruction& ins, const Origin& address) const {
    const Places& inputs = inputs_of(address.base);
    return std::ranges::any_of(ins.results(),
                               [&](Place p) { return inputs.contains(p); });
  }

 private:
  // What it is computed from that is not computed itself.
  const Places& inputs_of(Place place) const {
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
  Place first_alike(Place place) const {
    if (const auto known = alike_.find(place); known != alike_.end())
      return known->second;
    alike_[place] = place;  // As above.
    if (const auto load = loaded(place)) {
      const Instruction& ins = f_.code[*load];
      const Origin from = address(ins);
      Formula formula{ins.statement->op, {from.base}};
      formula.first.push_back(std::to_string(from.offset));
      const Place first = formulas_.try_emplace(formula, place).first->second;
      return alike_[place] = brings_again(*only(first), *load) ? first : place;
    }
    const Instruction* sum = computation(place);
    if (!sum) return place;
    Formula formula{sum->statement->op, {}};
    for (Place p : sum->sources()) formula.second.push_back(first_alike(p));
    return alike_[place] = formulas_.try_emplace(formula, place).first->second;
  }

  // The plain load that brings it. Not optimised, an index is loaded wherever
  // it is needed: `if (level[to[e]] < 0) level[to[e]] = now;`.
  std::optional<uint32_t> loaded(Place place) const {
    const auto pc = only(place);
    if (!pc) return {};
    const Instruction& ins = f_.code[*pc];
    const bool plain = is_load(ins) && ins.strength == Strength::kWeak &&
                       ins.result_count == 1 && ins.guard == kNowhere;
    return plain ? pc : std::nullopt;
  }

  // Does a load bring again what an earlier one has brought? So it is if its
  // thread only computes and loads in between, whichever way it takes.
  bool brings_again(uint32_t first, uint32_t load) const {
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
    return !reach(f_, changes, [&](uint32_t at) { return at == first; })[load];
  }

  // The one that makes it, as addresses are made.
  const Instruction* computation(Place place) const {
    static const std::set<std::string> kSums = {
        "add", "sub", "mul", "mad", "shl", "and", "cvt", "cvta", "mov"};
    const std::optional<uint32_t> pc = only(place);
    if (!pc) return nullptr;
    const Instruction& ins = f_.code[*pc];
    const bool computes = ins.pure && ins.guard == kNowhere && ins.statement &&
                          ins.result_count == 1 &&
                          kSums.contains(ins.statement->name());
    return computes ? &ins : nullptr;
  }

  // So far back is looked; an address has one way only.
  static constexpr int kSteps = 8, kAddressSteps = 16;

  static bool differs(Special special) {
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

  static std::optional<int64_t> added_number(const Instruction& ins) {
    if ((!is(ins, "add") && !is(ins, "sub")) ||
        ins.statement->operands.size() != 3)
      return {};
    const std::string& text = ins.statement->operands[2].text;
    char* end = nullptr;
    const int64_t number = std::strtoll(text.c_str(), &end, 0);
    if (end == text.c_str() || *end) return {};
    return is(ins, "sub") ? -number : number;
  }

  const Function& f_;
  const Dominators dominators_;
  std::map<Place, std::vector<uint32_t>> of_;
  Places differing_;
  using Formula = std::pair<std::vector<std::string>, std::vector<Place>>;
  mutable std::map<Formula, Place> formulas_;
  mutable std::map<Place, Place> alike_;
  mutable std::map<Place, Places> inputs_;
};

// What becomes of the value of one load, along all ways from it.
class Life {
 public:
  Life(const Function& f, const Definitions& definitions, uint32_t load,
       bool whole)
      : f_(f),
        definitions_(definitions),
        load_(load),
        whole_(whole),
        address_(definitions.address(f.code[load])) {
    State first;
    for (Place p : written(f.code[load])) first.values.insert(p);
    arrive(load, first);
    // An escape ends it, and most lie behind all loops: what comes last in the
    // code is looked at first.
    while (!open_.empty() && (whole_ || !escapes)) {
      const uint32_t pc = *open_.rbegin();
      open_.erase(pc);
      step(pc, states_[pc]);
    }
  }

  // Used for more than comparisons and the compare-and-swap.
  bool escapes = false;
  bool swapped = false;         // a compare-and-swap verified it
  std::set<uint32_t> decided;   // branches and the like that it decides
  std::set<uint32_t> compared;  // comparisons of the very value
  bool computed = false;        // something was made of it

 private:
  struct State {
    Places values;       // hold what the value has come to
    Places answers;      // hold what the compare-and-swap has found
    bool moved = false;  // the address is no longer that of the load
    bool merge(const State& other) {
      const bool moves = other.moved && !moved;
      moved |= other.moved;
      const bool valued = values.merge(other.values);
      return answers.merge(other.answers) || valued || moves;
    }
  };

  // The state behind `pc` reaches those that follow.
  void arrive(uint32_t pc, const State& state) {
    if (state.values.empty()) return;
    for (uint32_t next : successors(f_, pc)) {
      const auto [at, fresh] = states_.try_emplace(next);
      if (at->second.merge(state) || fresh) open_.insert(next);
    }
  }

  void step(uint32_t pc, State state) {
    const Instruction& ins = f_.code[pc];
    const std::vector<Place> sources = read(ins);
    const bool touched = any_of(sources, state.values);
    const bool guarded = state.values.contains(ins.guard);
    const bool answered = any_of(sources, state.answers);
    // Behind the comparison the value is what was there, or is given up.
    if (is(ins, "setp") && touched && answered) return;
    if (guarded) decided.insert(pc);
    const bool verifies = touched && verified_by(ins, state);
    swapped |= verifies;
    if (touched && !verifies) use(pc, ins);
    state.moved |= pc != load_ && definitions_.moves(ins, address_);
    for (Place p : written(ins)) {
      mark(state.values, p, ins, (touched && !verifies) || guarded);
      mark(state.answers, p, ins, verifies || answered);
    }
    if (pc == load_)
      for (Place p : written(ins)) state.values.insert(p);
    arrive(pc, state);
  }

  void use(uint32_t pc, const Instruction& ins) {
    if (!ins.pure || ins.gives_carry) {
      escapes = true;
    } else if (is(ins, "setp")) {
      compared.insert(pc);
    } else if (!copies(ins) && !hands_on_condition(ins)) {
      computed = true;
    }
  }

  bool verified_by(const Instruction& ins, const State& state) const {
    return is_swap(ins) && !state.moved &&
           state.values.contains(ins.source(0)) &&
           !state.values.contains(ins.address().base) &&
           ins.element_bytes == loaded_bytes() &&
           definitions_.address(ins) == address_;
  }

  // 128 bits are loaded as two halves.
  int loaded_bytes() const {
    const Instruction& load = f_.code[load_];
    return load.element_bytes * load.result_count;
  }

  static void mark(Places& places, Place p, const Instruction& ins, bool in) {
    if (in)
      places.insert(p);
    else if (ins.guard == kNowhere)
      places.erase(p);
  }

  const Function& f_;
  const Definitions& definitions_;
  const uint32_t load_;
  const bool whole_;
  const Definitions::Origin address_;
  std::unordered_map<uint32_t, State> states_;
  std::set<uint32_t> open_;
};

// ---- Loads that wait -------------------------------------------------------

// The smallest loop around `pc`, all that lies between a jump back and where it
// leads; empty if there is none. Two loops may begin at one place.
std::set<uint32_t> loop_around(const Function& f,
                               const Definitions& definitions, uint32_t pc) {
  std::vector<std::vector<uint32_t>> before(f.code.size());
  for (uint32_t at = 0; at < f.code.size(); ++at)
    for (uint32_t next : successors(f, at)) before[next].push_back(at);
  std::set<uint32_t> smallest;
  for (uint32_t first = 0; first <= pc; ++first) {
    for (uint32_t last : before[first]) {
      if (last < first || !definitions.dominates(first, last)) continue;
      std::set<uint32_t> loop = {first};
      std::vector<uint32_t> open = {last};
      while (!open.empty()) {
        const uint32_t at = open.back();
        open.pop_back();
        if (!loop.insert(at).second) continue;
        open.insert(open.end(), before[at].begin(), before[at].end());
      }
      const bool smaller = smallest.empty() || loop.size() < smallest.size();
      if (loop.contains(pc) && smaller) smallest = loop;
    }
  }
  return smallest;
}

// Is the load in a loop, always with the same address, that its value may end?
bool waits(const Function& f, const Definitions& definitions, uint32_t load,
           const Life& life) {
  const std::set<uint32_t> loop = loop_around(f, definitions, load);
  if (!definitions.stays(f.code[load].address().base, loop)) return false;
  for (uint32_t pc : life.decided) {
    if (!loop.contains(pc)) continue;
    const Kind kind = f.code[pc].kind;
    if (kind == Kind::kReturn || kind == Kind::kExit) return true;
    if (kind != Kind::kBranch) continue;
    for (uint32_t next : successors(f, pc))
      if (!loop.contains(next)) return true;
  }
  return false;
}

// ---- Loads that only test --------------------------------------------------

// Does control come from `first`, a successor of the branch, to `store` before
// the sides of the branch meet again?
bool leads_to(const Function& f, const Instruction& branch, uint32_t first,
              uint32_t store) {
  return first != branch.reconverge && reach(f, {first}, [&](uint32_t at) {
           return at == branch.reconverge;
         })[store];
}

// Does the branch (or guard) at `pc` decide whether `store` is reached?
bool guards(const Function& f, uint32_t pc, uint32_t store) {
  const Instruction& ins = f.code[pc];
  if (ins.kind != Kind::kBranch) return pc == store;
  return leads_to(f, ins, ins.target, store) != leads_to(f, ins, pc + 1, store);
}

// The store by which a thread that has tested a word sets it; or none.
std::optional<uint32_t> store_of(const Function& f,
                                 const Definitions& definitions, uint32_t load,
                                 const Life& life) {
  const Instruction& from = f.code[load];
  const Definitions::Origin address = definitions.address(from);
  const std::vector<bool> behind =
      reach(f, successors(f, load), [&](uint32_t pc) {
        return pc == load || definitions.moves(f.code[pc], address);
      });
  for (uint32_t pc = 0; pc < f.code.size(); ++pc) {
    const Instruction& ins = f.code[pc];
    if (!behind[pc] || !is_store(ins) || ins.strength != Strength::kWeak ||
        ins.element_bytes != from.element_bytes || ins.source_count != 1 ||
        definitions.address(ins) != address)
      continue;
    for (uint32_t branch : life.decided)
      if (guards(f, branch, pc)) return pc;
  }
  return {};
}

// A comparison that is simple enough to be evaluated; not with what.
std::optional<Comparison> simple_comparison(const Instruction& ins) {
  if (!is(ins, "setp") || ins.statement->op.size() != 3 ||
      ins.result(1) != kNowhere)
    return {};
  const Type type = ins.statement->type();
  const bool whole = type.is('s') || type.is('u') || type.is('b');
  if (!whole || type.is_float() || type.bytes > 4) return {};
  return Comparison{ins.relation, type.bytes, type.is_signed(), ins.source(1)};
}

// All comparisons of a tested value, if they are so simple.
std::vector<Comparison> comparisons_of(const Function& f,
                                       const Definitions& definitions,
                                       uint32_t load, const Life& life) {
  std::vector<Comparison> all;
  if (life.computed) return {};
  const Place value = f.code[load].result(0);
  for (uint32_t pc : life.compared) {
    const Instruction& ins = f.code[pc];
    auto comparison = simple_comparison(ins);
    const auto with = definitions.settled_sum(ins.source(1), load);
    if (!comparison || ins.source(0) != value || ins.source(1) == value ||
        !with)
      return {};
    comparison->with = with->place;
    comparison->added = with->added;
    all.push_back(*comparison);
  }
  return all;
}

// What must have been so for the store, if one comparison with a number or a
// parameter decides.
TestedStore asked_by(const Function& f, const Definitions& definitions,
                     Place value, const Life& life, uint32_t store) {
  if (life.computed || life.compared.size() != 1 || life.decided.size() != 1)
    return {};
  const Instruction& compare = f.code[*life.compared.begin()];
  const Instruction& branch = f.code[*life.decided.begin()];
  const Place with = definitions.fixed(compare.source(1));
  std::optional<Comparison> asked = simple_comparison(compare);
  if (!asked || compare.source(0) != value ||
      branch.guard != compare.result(0) || with >= kNowhere ||
      !definitions.uniform(with))
    return {};
  asked->with = with;
  // The predicate's value for the store.
  const bool on_taken =
      branch.kind != Kind::kBranch || leads_to(f, branch, branch.target, store);
  return {asked, on_taken != branch.guard_negated, 0, {}};
}

// Which instructions read a place, or are guarded by it.
class Readers {
 public:
  explicit Readers(const Function& f) {
    for (uint32_t pc = 0; pc < f.code.size(); ++pc) {
      for (Place p : read(f.code[pc])) of_[p].push_back(pc);
      if (f.code[pc].guard != kNowhere) of_[f.code[pc].guard].push_back(pc);
    }
  }
  std::span<const uint32_t> of(Place place) const {
    const auto known = of_.find(place);
    if (known == of_.end()) return {};
    return known->second;
  }

 private:
  std::map<Place, std::vector<uint32_t>> of_;
};

// Of most loads this is soon seen: what only they bring is stored, or the like.
bool surely_escapes(const Function& f, const Definitions& definitions,
                    const Readers& readers, uint32_t load) {
  std::vector<Place> values = written(f.code[load]);
  Places seen;
  while (!values.empty()) {
    const Place value = values.back();
    values.pop_back();
    if (!definitions.only(value) || !seen.insert(value)) continue;
    for (uint32_t pc : readers.of(value)) {
      const Instruction& ins = f.code[pc];
      const std::vector<Place> sources = read(ins);
      if (std::find(sources.begin(), sources.end(), value) == sources.end())
        continue;
      if (!ins.pure || ins.gives_carry) return true;
      for (Place p : written(ins)) values.push_back(p);
    }
  }
  return false;
}

// ---- Loads that some lanes drop --------------------------------------------

// Where `if (c) v = *p;` stands in the source, the compiler may load for all
// lanes, compute for all, and select in the end: the others never see *p.
class Keepers {
 public:
  Keepers(const Function& f, const Definitions& definitions,
          const Readers& readers)
      : f_(f), definitions_(definitions), readers_(readers) {}

  // Who keeps what a load brings, if that is certain when it is done.
  std::optional<Keeper> of(uint32_t load) const {
    std::set<Keeper> keepers;
    std::vector<Place> values = written(f_.code[load]);
    Places seen;
    for (size_t k = 0; k < values.size(); ++k) {
      if (!definitions_.only(values[k])) return {};
      for (uint32_t pc : readers_.of(values[k])) {
        const Instruction& ins = f_.code[pc];
        if (const auto choice = choice_at(ins, values[k])) {
          const auto keeper = known_at(load, pc, *choice);
          if (!keeper) return {};
          keepers.insert(*keeper);
        } else if (ins.pure && !ins.gives_carry && ins.guard == kNowhere) {
          for (Place p : written(ins))
            if (seen.insert(p)) values.push_back(p);
        } else {
          return {};
        }
      }
    }
    return keepers.size() == 1 ? std::optional(*keepers.begin()) : std::nullopt;
  }

 private:
  struct Choice {
    Place predicate;
    bool value;
  };

  // What decides there whether a lane goes on with the value.
  static std::optional<Choice> choice_at(const Instruction& ins, Place value) {
    if (value == ins.guard) return {};
    if (ins.guard != kNowhere) return Choice{ins.guard, !ins.guard_negated};
    if (!is(ins, "selp") || ins.source(2) == value ||
        ins.source(0) == ins.source(1))
      return {};
    return Choice{ins.source(2), (ins.source(0) == value) != ins.inverts(2)};
  }

  // The choice made at `pc`, from what is there when the load is done, and does
  // not change in between: its predicate, or the numbers that it compares.
  std::optional<Keeper> known_at(uint32_t load, uint32_t pc,
                                 const Choice& choice) const {
    if (stays(choice.predicate, load, pc))
      return Keeper{choice.value, choice.predicate, {}};
    const auto compare = definitions_.only(choice.predicate);
    if (!compare) return {};
    const Instruction& ins = f_.code[*compare];
    const auto comparison = simple_comparison(ins);
    if (!comparison || ins.guard != kNowhere ||
        ins.result(0) != choice.predicate || !stays(ins.source(0), load, pc) ||
        !stays(ins.source(1), load, pc))
      return {};
    return Keeper{choice.value, ins.source(0), comparison};
  }

  bool stays(Place place, uint32_t load, uint32_t pc) const {
    if (!definitions_.settled(place, load)) return false;
    const auto writer = definitions_.only(place);
    if (!writer) return true;  // A constant, or the thread's own number.
    return !reach(f_, successors(f_, load),
                  [&](uint32_t at) { return at == load || at == pc; })[*writer];
  }

  const Function& f_;
  const Definitions& definitions_;
  const Readers& readers_;
};

class Uses {
 public:
  Uses(Function& f, const Program& program)
      : f_(f),
        program_(program),
        definitions_(f, program),
        readers_(f),
        keepers_(f, definitions_, readers_) {
    for (const Instruction& ins : f.code)
      if (is_swap(ins)) swapped_.push_back(definitions_.address(ins));
  }

  void find() {
    std::vector<uint32_t> loads;
    for (uint32_t pc = 0; pc < f_.code.size(); ++pc) {
      const Instruction& ins = f_.code[pc];
      if (is_load(ins) && meets_others(ins.address().space))
        loads.push_back(pc);
    }
    find_waits(loads);
    for (uint32_t pc : loads)
      if (f_.code[pc].strength == Strength::kWeak)
        find_use(pc);
      else
        find_end(pc);
    for (uint32_t pc = 0; pc < f_.code.size(); ++pc)
      if (only_reads(f_.code[pc], program_)) find_end(pc);
    for (uint32_t pc : stores_) look_up(pc);
  }

 private:
  void find_waits(const std::vector<uint32_t>& loads) {
    std::vector<uint32_t> asking, waiting;
    for (uint32_t pc : loads) {
      if (f_.code[pc].strength != Strength::kVolatile) continue;
      const Life life(f_, definitions_, pc, true);
      if (life.decided.empty()) continue;
      asking.push_back(pc);
      if (waits(f_, definitions_, pc, life)) waiting.push_back(pc);
    }
    // The compiler may ask once before the loop, and go on at once.
    for (uint32_t pc : asking)
      for (uint32_t other : waiting)
        if (same_place(f_.code[pc], f_.code[other]))
          f_.code[pc].strength = Strength::kStrong;
  }

  // Of one that waits, the branch that ends its loop, if the way there is
  // straight.
  void find_end(uint32_t pc) {
    Instruction& ins = f_.code[pc];
    const bool plain = ins.result_count == 1 && ins.result(0) != kNowhere &&
                       ins.guard == kNowhere;
    if (!plain || (ins.element_bytes != 4 && ins.element_bytes != 8) ||
        ins.element_bytes != f_.widths.at(ins.result(0)))
      return;
    uint32_t end = pc + 1;
    while (end < f_.code.size() && f_.code[end].pure &&
           f_.code[end].guard == kNowhere)
      ++end;
    if (end == f_.code.size()) return;
    const Instruction& branch = f_.code[end];
    if (branch.kind != Kind::kBranch || branch.guard == kNowhere ||
        jumps_between(pc, end))
      return;
    const Life life(f_, definitions_, pc, true);
    if (life.escapes || life.swapped || life.decided != std::set{end}) return;
    const std::set<uint32_t> loop = loop_around(f_, definitions_, pc);
    const bool stays_if_taken = loop.contains(branch.target);
    if (!waits(f_, definitions_, pc, life) ||
        stays_if_taken == loop.contains(end + 1))
      return;
    ins.waits = true;
    Wait& wait = f_.waits[ins.site];
    wait = {end, stays_if_taken == branch.guard_negated, {}};
    for (uint32_t at = pc; at < end; ++at)
      for (Place place : written(f_.code[at]))
        wait.written.emplace_back(place, f_.widths.at(place));
  }

  // Is there another way to what lies behind `first`, up to `last`?
  bool jumps_between(uint32_t first, uint32_t last) const {
    for (uint32_t pc = 0; pc < f_.code.size(); ++pc)
      for (uint32_t next : successors(f_, pc))
        if (next > first && next <= last && next != pc + 1) return true;
    return false;
  }

  bool same_place(const Instruction& a, const Instruction& b) const {
    return a.address().space == b.address().space &&
           definitions_.address(a) == definitions_.address(b);
  }

  void find_use(uint32_t pc) {
    Instruction& ins = f_.code[pc];
    if (const auto keeper = keepers_.of(pc)) {
      ins.dropped = true;
      f_.keepers[ins.site] = *keeper;
    }
    const bool may_guess =
        std::find(swapped_.begin(), swapped_.end(),
                  definitions_.address(ins)) != swapped_.end();
    const bool may_test = ins.result_count == 1 && ins.element_bytes <= 4;
    if (!may_guess &&
        (!may_test || surely_escapes(f_, definitions_, readers_, pc)))
      return;
    const Life life(f_, definitions_, pc, false);
    if (life.escapes) return;
    if (life.swapped)
      ins.guess = life.decided.empty() ? Guess::kVerified : Guess::kDecides;
    else if (may_test && !life.decided.empty())
      add_test(pc, life);
  }

  void add_test(uint32_t load, const Life& life) {
    Test& test = f_.tests[f_.code[load].site];
    test.is_signed = f_.code[load].statement->type().is_signed();
    test.comparisons = comparisons_of(f_, definitions_, load, life);
    const std::optional<uint32_t> store =
        store_of(f_, definitions_, load, life);
    if (!store) return;
    Instruction& to = f_.code[*store];
    const Place value = definitions_.fixed(to.source(0));
    if (to.from_bytes == f_.code[load].to_bytes &&
        definitions_.settled(value, load))
      test.stores = value;
    test.uniform_value = uniform_value(value);
    if (f_.tested_stores.contains(to.site)) return;
    TestedStore& tested = f_.tested_stores[to.site];
    tested = asked_by(f_, definitions_, f_.code[load].result(0), life, *store);
    tested.uniform_value = test.uniform_value;
    stores_.push_back(*store);
  }

  // The number of what is computed in the same way in all threads; or 0.
  uint32_t uniform_value(Place place) {
    if (!definitions_.uniform(place)) return 0;
    const auto number = static_cast<uint32_t>(values_.size() + 1);
    return values_.try_emplace(definitions_.formula(place), number)
        .first->second;
  }

  // Which numbers that the tests compare with are known at the store.
  void look_up(uint32_t store) {
    Places known;
    for (const auto& [site, test] : f_.tests)
      for (const Comparison& one : test.comparisons)
        if (definitions_.uniform(one.with) &&
            definitions_.settled(one.with, store))
          known.insert(one.with);
    f_.tested_stores[f_.code[store].site].uniform = known.sorted();
  }

  Function& f_;
  const Program& program_;
  const Definitions definitions_;
  const Readers readers_;
  const Keepers keepers_;
  std::vector<Definitions::Origin> swapped_;  // by a compare-and-swap
  std::vector<uint32_t> stores_;              // that are tested
  std::map<std::string, uint32_t> values_;    // formulas, and their numbers
};

// Loads of which functions that are called make a guess, not optimised.
void find_guesses_of_calls(Function& f, const Program& program) {
  if (f.calls.empty()) return;
  const WrittenOut out(f);
  if (!out.has_calls()) return;
  const Function& all = out.function();
  if (std::ranges::none_of(all.code, is_swap)) return;
  const Definitions definitions(all, program);
  std::vector<Definitions::Origin> swapped;
  for (const Instruction& ins : all.code)
    if (is_swap(ins)) swapped.push_back(definitions.address(ins));
  for (uint32_t pc = 0; pc < all.code.size(); ++pc) {
    if (out.own(pc) == WrittenOut::kCalled) continue;
    Instruction& load = f.code[out.own(pc)];
    if (!is_load(load) || !meets_others(load.address().space) ||
        load.strength != Strength::kWeak ||
        !std::ranges::count(swapped, definitions.address(all.code[pc])))
      continue;
    const Life life(all, definitions, pc, false);
    if (!life.escapes && life.swapped)
      load.guess = life.decided.empty() ? Guess::kVerified : Guess::kDecides;
  }
}

}  // namespace

void find_uses(Function& function, const Program& program) {
  Uses(function, program).find();
  find_guesses_of_calls(function, program);
}

}  // namespace simt
