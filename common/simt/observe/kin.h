// Grids that launch one another: which of them come one after the other, and
// who touched what, so that races between them are found.
//
// The executor runs a child when its parent has ended. A GPU may run it from
// the launch on. So what comes before the child is what the launching thread
// had done, and what it knew that others had done.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/simt/core/access.h"
#include "common/simt/core/grid.h"
#include "common/simt/observe/order.h"
#include "common/simt/observe/overlaps.h"

namespace simt {

// When a thread of a grid launches another.
struct Moment {
  uint32_t block = 0;
  Time time = 0;   // What its block has done before is known to it,
  Lesson learned;  //   and this of other blocks.
};

// One of them.
struct Relative {
  const Kernel* kernel = nullptr;  // null: it is a copy or a fill
  uint32_t parent = 0;             // of the first one: itself
  uint32_t depth = 0;              // how many come before it, from the first on
  bool is_tail = false;  // begins when the parent and its others have ended
  Moment launched;
  // Among what the parent launched: its stream, its number in there, and how
  // much of each stream comes before it.
  uint64_t queue = 0, number = 0;
  Past past;
  // For what is told of it later.
  unsigned blocks[3] = {1, 1, 1}, threads[3] = {1, 1, 1};
};

class Kin {
 public:
  // An access to some bytes of a word.
  struct Touch {
    const Instruction* ins = nullptr;  // null: none is known
    uint32_t member = 0, block = 0;
    Time time = 0;
    uint16_t thread = 0;
    uint8_t bytes = 0;  // a bit each
    bool stores = false;
  };

  Kin();

  uint32_t add(Relative relative);
  const Relative& relative(uint32_t member) const { return relatives_[member]; }

  // Where the lines of two meet: they, or those above them of whom one grid
  // has launched both.
  struct Meeting {
    uint32_t at = 0;  // that grid, or the one that is above the other
    uint32_t one = 0,
             other = 0;  // whom it has launched of either line; or itself
  };
  Meeting meeting(uint32_t one, uint32_t other) const;

  // Whether what `touch` tells of comes before all that `member` does.
  bool is_before(const Touch& touch, uint32_t member) const;

  // Memory that is handed out anew.
  void forget(uint64_t address, uint64_t bytes);

  // f(touch) for those that the memory of this word keeps, which concern some
  // of the same bytes and are another grid's; then this one is kept.
  template <class F>
  void enter(uint64_t word, const Touch& mine, F f) {
    Word& there = words_[word % kWords];
    if (there.number != word) there = {word, {}};
    for (const Touch& touch : there.touches)
      if (touch.ins && touch.member != mine.member &&
          (touch.bytes & mine.bytes) && (touch.stores || mine.stores))
        f(touch);
    there.touches[slot_of(mine, there)] = mine;
  }

  // Where all of them went, for the operation that the first one is.
  Footprint footprint;

 private:
  // What falls together is forgotten.
  static constexpr size_t kWords = 1 << 17;
  enum Slot { kWeakStore, kLoad, kLaterLoad, kStrong, kSlots };
  struct Word {
    uint64_t number = 0;
    Touch touches[kSlots];
  };
  // What a grid read beside its children is not forgotten for what these read.
  Slot slot_of(const Touch& touch, const Word& there) const {
    if (touch.ins->strength != Strength::kWeak) return kStrong;
    if (touch.stores) return kWeakStore;
    const Touch& kept = there.touches[kLoad];
    const bool stays = kept.ins && kept.member != touch.member &&
                       !is_before(kept, touch.member);
    return stays ? kLaterLoad : kLoad;
  }
  std::vector<Relative> relatives_;
  LazyArray<Word> words_;
};

}  // namespace simt
