// What hangs on a load that only tests a word: all that its thread does or
// leaves undone because of the value.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/simt/decode/definitions.h"
#include "common/simt/decode/few_places.h"
#include "common/simt/decode/reading.h"

namespace simt {

class Consequences {
 public:
  // Of the load, whose thread may store to the same word by `store`. What
  // `excused` marks hangs on something else: it need not be followed.
  Consequences(const Function& f, const Definitions& definitions,
               const Readers& readers, uint32_t load, uint32_t store,
               std::vector<bool> excused = {});

  // What is stored besides, if all of that is the same whoever of those that
  // store to the word stores it: `*found = true`, or `next[v] = 1` beside
  // `level[v]`. None: something hangs on the value that is each thread's own.
  std::optional<std::string> besides() const;

 private:
  void taint(const Instruction& ins);
  void take(uint32_t pc, Place value);
  void decide(const std::vector<uint32_t>& region);
  void judge(uint32_t pc);
  std::vector<uint32_t> region_of(uint32_t branch) const;
  // Who has written the place in the same basic block, last before `pc`.
  std::optional<uint32_t> just_written(Place place, uint32_t pc) const;

  const Function& f_;
  const Definitions& definitions_;
  const Readers& readers_;
  const uint32_t store_;
  const std::vector<bool> starts_;  // of basic blocks
  Places values_;  // computed from the value, or there because of it
  std::vector<Place> open_;
  std::vector<bool> decided_;  // instructions: are they done at all?
  bool own_ = false;
  std::set<std::string> besides_;
};

}  // namespace simt
