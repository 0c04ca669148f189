// Follows what a load brings to where it is chosen or dropped.
#include "common/simt/decode/keepers.h"

#include <set>
#include <vector>

#include "common/simt/decode/few_places.h"
#include "common/simt/decode/tests.h"

namespace simt {

std::optional<Keeper> Keepers::of(uint32_t load) const {
  std::set<Keeper> keepers;
  std::vector<Place> values = written(f_.code[load]);
  Places seen;
  for (size_t k = 0; k < values.size(); ++k) {
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

// What decides there whether a lane goes on with the value.
std::optional<Keepers::Choice> Keepers::choice_at(const Instruction& ins,
                                                  Place value) {
  if (value == ins.guard) return {};
  if (ins.guard != kNowhere) return Choice{ins.guard, !ins.guard_negated};
  if (!is(ins, "selp") || ins.source(2) == value ||
      ins.source(0) == ins.source(1))
    return {};
  return Choice{ins.source(2), (ins.source(0) == value) != ins.inverts(2)};
}

// The choice made at `pc`, from what is there when the load is done, and does
// not change in between: its predicate, or the numbers that it compares.
std::optional<Keeper> Keepers::known_at(uint32_t load, uint32_t pc,
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

bool Keepers::stays(Place place, uint32_t load, uint32_t pc) const {
  return definitions_.settled(place, load) &&
         definitions_.stays_between(place, load, pc);
}

}  // namespace simt
