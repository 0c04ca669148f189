// Stores to words of shared memory that nothing orders. They matter only if
// somebody reads the word: what scatters throw away goes where nobody looks.
#pragma once
#include <cstdint>
#include <map>

#include "common/simt/core/access.h"
#include "common/simt/observe/verdict.h"

namespace simt {

// Two stores to a word.
struct Clash {
  Warp* warp;  // of the later one
  const Instruction* ins;
  Access access;
  Conflict conflict;
  Event other;
  Time other_time;
  bool in_warp;   // all of them are this warp's
  Time end;       // all of them came before
  uint8_t bytes;  // of the word
};

// Those of a block.
class Clashes {
 public:
  void clear() { by_word_.clear(); }
  void enter(const Clash& clash);
  // f(clash) for those of whose bytes `a` reads any; they are forgotten, as are
  // bytes that it covers: whoever reads finds what it has stored.
  template <class F>
  void settle(const Warp& warp, const Access& a, const BlockOrder& order, F f) {
    if (by_word_.empty() || a.space != Space::kShared) return;
    for (uint32_t rest = a.mask; rest; rest &= rest - 1) {
      const uint64_t begin = a.address[first_lane(rest)];
      each_word(begin, begin + a.bytes, [&](uint64_t at, uint8_t touched) {
        const auto found = by_word_.find(at / Shadow::kWordBytes);
        if (found == by_word_.end() || !(found->second.bytes & touched)) return;
        Clash& clash = found->second;
        if (a.use != Use::kStore) {
          f(clash);
          by_word_.erase(found);
        } else if (is_behind(warp, order, clash)) {
          clash.bytes &= ~touched;
          if (!clash.bytes) by_word_.erase(found);
        }
      });
    }
  }

 private:
  // Whether all of a clash is ordered before what the warp does now.
  static bool is_behind(const Warp& warp, const BlockOrder& order,
                        const Clash& clash);

  std::map<uint64_t, Clash> by_word_;  // by number of the word
};

}  // namespace simt
