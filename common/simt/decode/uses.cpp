// What becomes of the values that loads bring, as far as a look at the code can
// tell: which loads wait for a value to change, which are guesses that a
// compare-and-swap verifies, which only test a word, which lanes drop it; and
// which stores change what was loaded.
//
// What is not certain counts as an ordinary load.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/simt/decode/analysis.h"
#include "common/simt/decode/consequences.h"
#include "common/simt/decode/definitions.h"
#include "common/simt/decode/keepers.h"
#include "common/simt/decode/life.h"
#include "common/simt/decode/reading.h"
#include "common/simt/decode/tests.h"
#include "common/simt/decode/waits.h"
#include "common/simt/decode/written_out.h"

namespace simt {
namespace {

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
    find_flags(f_, definitions_, loads);
    for (uint32_t pc : loads)
      if (f_.code[pc].strength == Strength::kWeak)
        find_use(pc);
      else
        find_look(pc);
    for (uint32_t pc = 0; pc < f_.code.size(); ++pc)
      if (only_reads(f_.code[pc], program_)) find_end(f_, definitions_, pc);
    for (uint32_t pc = 0; pc < f_.code.size(); ++pc)
      if (is_swap(f_.code[pc])) add_swap(pc);
    for (uint32_t pc : stores_) look_up(pc);
    for (uint32_t pc = 0; pc < f_.code.size(); ++pc)
      if (is_store(f_.code[pc])) find_old(pc);
  }

 private:
  // Does a store depend on what was loaded of the word before?
  bool is_made_of_old(const Instruction& store) const {
    const Definitions::Origin word = definitions_.address(store);
    std::vector<Place> values = read(store);
    Places seen;
    while (!values.empty()) {
      const Place value = values.back();
      values.pop_back();
      const std::optional<uint32_t> from = definitions_.only(value);
      if (!from || !seen.insert(value)) continue;
      const Instruction& ins = f_.code[*from];
      if (is_load(ins) && definitions_.address(ins) == word) return true;
      if (ins.pure)
        for (Place p : read(ins)) values.push_back(p);
    }
    return false;
  }

  // Whether anybody looks at what a load brings that others may change.
  void find_look(uint32_t pc) {
    find_end(f_, definitions_, pc);
    Instruction& ins = f_.code[pc];
    ins.unread = std::ranges::all_of(
        written(ins), [&](Place p) { return readers_.of(p).empty(); });
  }

  // Whether a store stores what its thread has found there before.
  void find_old(uint32_t pc) {
    Instruction& ins = f_.code[pc];
    if (ins.strength != Strength::kWeak) {
      ins.updates = is_made_of_old(ins);
    } else if (const auto failed = failed_swap(pc)) {
      ins.dropped = true;
      f_.keepers[ins.site] = *failed;
    }
  }

  // libcu++ stores what a compare-and-swap has found to where the expected
  // value lies, even if the two are equal. C++ does so if the swap has failed.
  std::optional<Keeper> failed_swap(uint32_t store) const {
    const Instruction& ins = f_.code[store];
    if (!ins.where.of_library || ins.source_count != 1) return {};
    const Place found = ins.source(0);
    const auto swap = definitions_.only(found);
    if (!swap || !is_swap(f_.code[*swap]) || f_.code[*swap].element_bytes < 4 ||
        !definitions_.dominates(*swap, store))
      return {};
    const Place expected = f_.code[*swap].source(0);
    if (!definitions_.stays_between(expected, *swap, store)) return {};
    const auto bytes = static_cast<uint8_t>(ins.element_bytes);
    return Keeper{true, found,
                  Comparison{Relation::kNe, bytes, false, expected}};
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
    const bool may_test = ins.result_count == 1 && ins.element_bytes <= 8;
    if (!may_guess &&
        (!may_test || surely_escapes(f_, definitions_, readers_, pc)))
      return;
    const Life life(f_, definitions_, pc, false);
    if (life.escapes) return;
    if (life.swapped)
      ins.guess = life.decided.empty() ? Guess::kVerified : Guess::kDecides;
    else if (may_test && !life.decided.empty())
      find_test(pc, life);
  }

  void find_test(uint32_t load, const Life& life) {
    Instruction& ins = f_.code[load];
    ins.guess = guess_before_atomic(f_, definitions_, readers_, load, life);
    if (ins.guess == Guess::kNone && ins.element_bytes <= 4)
      add_test(load, life);
  }

  void add_test(uint32_t load, const Life& life) {
    Test& test = f_.tests[f_.code[load].site];
    test.is_signed = f_.code[load].statement->type().is_signed();
    test.comparisons = comparisons_of(f_, definitions_, load, life);
    if (test.comparisons.size() > 1)
      test.joined = joined_of(f_, readers_, life);
    const std::optional<uint32_t> store =
        store_of(f_, definitions_, load, life);
    if (!store) return;
    Instruction& to = f_.code[*store];
    const Place value = definitions_.fixed(to.source(0));
    const uint32_t number = uniform_value(value);
    const std::optional<std::string> besides =
        Consequences(f_, definitions_, readers_, load, *store).besides();
    if (besides) {
      if (to.from_bytes == f_.code[load].to_bytes &&
          definitions_.settled(value, load))
        test.stores = value;
      test.uniform_value = number;
      test.besides = besides->empty() ? 0 : number_of(*besides);
    }
    if (f_.tested_stores.contains(to.site)) return;
    TestedStore& tested = f_.tested_stores[to.site];
    tested = asked_by(f_, definitions_, f_.code[load].result(0), life, *store);
    tested.uniform_value = number;
    tested.besides = test.besides;
    stores_.push_back(*store);
  }

  // A compare-and-swap that stores has found what it asks for.
  void add_swap(uint32_t pc) {
    const Instruction& ins = f_.code[pc];
    const Place wanted = definitions_.fixed(ins.source(0));
    if (ins.element_bytes > 4 || wanted >= kNowhere ||
        !definitions_.uniform(wanted))
      return;
    TestedStore& tested = f_.tested_stores[ins.site];
    tested.asked =
        Comparison{Relation::kEq, uint8_t(ins.element_bytes), false, wanted};
    tested.answer = true;
    stores_.push_back(pc);
  }

  // The number of what is computed in the same way in all threads; or 0.
  uint32_t uniform_value(Place place) {
    return definitions_.uniform(place) ? number_of(definitions_.formula(place))
                                       : 0;
  }

  uint32_t number_of(const std::string& formula) {
    const auto number = static_cast<uint32_t>(values_.size() + 1);
    return values_.try_emplace(formula, number).first->second;
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
