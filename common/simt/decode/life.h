// What becomes of the value of one load, along all ways from it.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "common/simt/decode/definitions.h"
#include "common/simt/decode/few_places.h"

namespace simt {

class Life {
 public:
  // `whole`: it is followed on where it has escaped.
  Life(const Function& f, const Definitions& definitions, uint32_t load,
       bool whole);

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
    bool merge(const State& other);
  };

  void arrive(uint32_t pc, const State& state);
  void step(uint32_t pc, State state);
  void use(uint32_t pc, const Instruction& ins, const State& state);
  bool may_be_redone(const Instruction& ins, const State& state);
  bool is_redone(uint32_t store) const;
  bool surely_reaches(std::vector<uint32_t> from, uint32_t to) const;
  std::vector<uint32_t> after_failure(uint32_t swap) const;
  bool is_looked_at(const Instruction& swap) const;
  bool verified_by(const Instruction& ins, const State& state) const;
  int loaded_bytes() const;

  const Function& f_;
  const Definitions& definitions_;
  const uint32_t load_;
  const Definitions::Origin address_;
  std::set<uint32_t> verified_;     // compare-and-swaps that do so
  std::set<uint32_t> stored_;       // stores of it, before that
  std::optional<bool> is_swapped_;  // Is there one for the word at all?
  std::unordered_map<uint32_t, State> states_;
  std::set<uint32_t> open_;
};

}  // namespace simt
