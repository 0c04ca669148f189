// Of the model of ptxas: the atomics that one lane makes for all of its warp.
//
// If it can tell that all lanes mean the same word, it lets them add up what
// they bring, and one of them take the sum to memory. It does the same with
// other operations, but for an answer only with sums of one number: then each
// lane can compute its own.
#include <map>
#include <set>

#include "common/simt/decode/ptxas.h"

namespace simt {
namespace {

// Which places hold the same in all lanes of a warp, whenever they are read.
class OfWarp {
 public:
  OfWarp(const Function& function, const Program& program) {
    for (const auto& [special, place] : program.specials)
      if (!is_of_block(special)) of_lanes_.insert(place);
    for (const Instruction& ins : function.code)
      for (Place place : ins.results())
        if (place != kNowhere) ++writers_[place], writer_[place] = &ins;
  }

  bool holds_one(Place place) {
    if (place < kNowhere) return !of_lanes_.contains(place);
    if (writers_[place] != 1) return false;
    const auto [known, is_new] = is_one_.try_emplace(place, false);
    if (is_new) known->second = makes_one(*writer_[place]);
    return is_one_[place];
  }
  bool means_one(const Address& a) {
    return a.base == kNowhere || holds_one(a.base);
  }

 private:
  static bool is_of_block(Special special) {
    return special >= Special::kCtaidX && special <= Special::kNctaidZ;
  }
  bool makes_one(const Instruction& ins) {
    const bool loads = ins.statement && ins.statement->name() == "ld" &&
                       ins.strength == Strength::kWeak;
    if (ins.guard != kNowhere || !(ins.pure || loads)) return false;
    for (Place place : ins.sources())
      if (place != kNowhere && !holds_one(place)) return false;
    for (const Address& a : ins.addresses())
      if (!means_one(a)) return false;
    return true;
  }

  std::set<Place> of_lanes_;  // special registers
  std::map<Place, int> writers_;
  std::map<Place, const Instruction*> writer_;
  std::map<Place, bool> is_one_;
};

bool can_be_joined(const Instruction& ins) {
  if (!ins.statement || ins.element_bytes != 4 || ins.source_count != 1)
    return false;
  const std::string& op = ins.statement->name();
  return (op == "atom" || op == "red") && !ins.statement->has("async") &&
         ins.update <= Update::kXor && !ins.statement->type().is_float() &&
         ins.statement->type().kind != 'x';
}

}  // namespace

void find_elected(Function& function, const Program& program) {
  std::optional<OfWarp> warp;
  for (Instruction& ins : function.code) {
    if (!can_be_joined(ins)) continue;
    if (!warp) warp.emplace(function, program);
    const bool answers = ins.atomic_form == AtomicForm::kAnswer;
    ins.one_for_all = warp->means_one(ins.address()) &&
                      (!answers || (ins.update == Update::kAdd &&
                                    warp->holds_one(ins.source(0))));
  }
}

}  // namespace simt
