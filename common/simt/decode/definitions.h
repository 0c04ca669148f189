// Where the places of a function get their values, as far as a look at the code
// can tell: which are the same in all threads, which do not change, and which
// addresses are one.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/simt/core/program.h"
#include "common/simt/decode/dominators.h"
#include "common/simt/decode/few_places.h"

namespace simt {

class Definitions {
 public:
  Definitions(const Function& f, const Program& program);

  // The only instruction that writes the place.
  std::optional<uint32_t> only(Place place) const;

  // The number or parameter of which the place holds a copy; or the place.
  Place fixed(Place place) const;

  // The same in all threads, once it is there?
  bool uniform(Place place, int depth = kSteps) const;

  // How a place that is uniform was computed, from numbers and parameters. Two
  // sums are alike if what they add is; of most instructions only the same one.
  std::string formula(Place place) const;

  // Is it the same in each turn of a loop? Not optimised, an address is
  // computed in each of them.
  bool stays(Place place, const std::set<uint32_t>& loop,
             int depth = kSteps) const;

  bool dominates(uint32_t first, uint32_t pc) const {
    return dominators_.dominates(first, pc);
  }

  // Is it there whenever control comes to `pc`, and does not change?
  bool settled(Place place, uint32_t pc) const;

  // Nothing writes it on the way.
  bool stays_between(Place place, uint32_t from, uint32_t to) const;

  // What there is at `pc`, or a sum of it and a number: not optimised, that is
  // computed where it is needed.
  struct Sum {
    Place place;
    int64_t added = 0;
  };
  std::optional<Sum> settled_sum(Place place, uint32_t pc) const;

  // An address without the numbers that were added to it on the way.
  struct Origin {
    Place base;
    int64_t offset;
    bool operator==(const Origin&) const = default;
  };
  Origin address(const Instruction& access) const;

  // What a store stores, `value`, and where, if both are the same for all
  // threads for which `other` goes to one place: they depend on nothing, or the
  // address on the one index of that.
  std::optional<std::string> same_store(const Instruction& store, Place value,
                                        const Instruction& other) const;

  // Does the instruction change what an address was computed from? The address
  // itself may be computed once more: it is the same.
  bool moves(const Instruction& ins, const Origin& address) const;

 private:
  // So far back is looked.
  static constexpr int kSteps = 8;

  // Of an address: what is added up there, as a text as far as it is the same
  // in all threads, and the rest.
  struct Parts {
    std::string same;
    Places own;
  };
  Parts parts(Place place) const;
  void take_apart(Place place, int depth, Parts& parts) const;
  // What is added up, and how often each.
  using Sums = std::map<Place, uint64_t>;
  Place first_sum(Place place) const;
  void add_up(Place place, uint64_t times, int depth, Sums& sums) const;
  const Places& inputs_of(Place place) const;
  Place first_alike(Place place) const;
  std::optional<uint32_t> loaded(Place place) const;
  bool brings_again(uint32_t first, uint32_t load) const;
  const Instruction* computation(Place place) const;
  // The pure, unguarded instruction that alone writes the place, or null.
  const Instruction* pure_writer(Place place) const;

  const Function& f_;
  const Dominators dominators_;
  std::map<Place, std::vector<uint32_t>> of_;
  Places differing_;
  using Formula = std::pair<std::vector<std::string>, std::vector<Place>>;
  struct Alike {
    Place first, latest;
  };
  mutable std::map<Formula, Alike> formulas_;
  mutable std::map<Place, Place> alike_;
  mutable std::map<Sums, Place> sums_;
  mutable std::map<Place, Places> inputs_;
};

}  // namespace simt
