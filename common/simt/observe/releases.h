// Flags: who has handed out what by them, and what they teach who reads them.
#pragma once
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "common/simt/observe/order.h"

namespace simt {

// Which blocks have handed out what they had done, and where. A fence for the
// block hands it to the block alone. Tables of a fixed size; what falls out of
// them counts as handed out. Flags in shared memory last as long as their
// block: they have a place of their own, or each block's would take the last
// one's.
class Releases {
 public:
  Releases();
  void clear();
  // Where a flag lies that is in a block's shared memory, as a number of its
  // own; what is remembered of those is forgotten.
  static uint64_t in_shared(uint32_t block, uint64_t address) {
    return kShared | uint64_t{block} << kSharedBits | address;
  }
  void forget_shared(uint32_t block);
  bool empty() const { return !any_; }  // No flag teaches anything.
  // A lane stores to a flag; `adds`: what others released there stays.
  void release(BlockOrder& block, uint32_t warp, int lane, uint64_t flag,
               bool adds, Time now);
  Lesson at(uint64_t flag, Time now) const;
  // A flag of so many bytes, before an access: from now on it is remembered
  // what that was when, and who had released what. What it is, before an
  // access.
  void watch(uint64_t flag, int bytes, const uint8_t* there, Time now);
  void see(uint64_t flag, const uint8_t* there);
  // A lane stores to a flag, whether it releases anything or not.
  void note_store(uint64_t flag, Time now);
  // What the flag taught as soon as it was a value that ends a wait, and since
  // when it is such a one; `since`: the last look, when it was none, or 0. Who
  // came to it later tells the waiting thread nothing that it may count on.
  template <class Ends>
  Lesson at_end(uint64_t flag, int bytes, Time since, Time now,
                const Ends& ends) const;
  // Whether what a thread did at `time` was released to all blocks by stores up
  // to `until`.
  bool covers(uint32_t block, uint32_t warp, int lane, Time time,
              Time until) const;

 private:
  struct Change {
    Time time;
    Lesson lesson;
    uint64_t value = 0;
    bool is_seen = false;
  };
  struct Flag {
    uint64_t address = 0;
    Lesson lesson;
    bool replaced = false;
    uint8_t watched_bytes = 0;    // 0: it is not watched
    Time forgotten = 0;           // what changed up to here is not in the list
    std::vector<Change> changes;  // the oldest first
  };
  struct Cover {
    uint32_t block = 0;
    bool used = false, replaced = false;
    HandedOut handed;
  };
  static constexpr size_t kFlags = 8192, kCovers = 2048, kChanges = 512;
  static constexpr uint64_t kShared = 1ull << 63;
  static constexpr int kSharedBits = 24;  // of an address there
  Flag& slot(uint64_t flag) {
    return flag & kShared ? shared_flags_[flag] : flags_[flag / 4 % kFlags];
  }
  Cover& cover_of(uint32_t block);
  // What the cluster's barrier has told a lane of the other blocks, it hands
  // on.
  void hand_on(const BlockOrder& block, uint32_t warp, Time fenced,
               Lesson& lesson);
  // The same where nothing is entered; null: nothing is known.
  const Flag* find(uint64_t flag) const;
  Flag* find(uint64_t flag) {
    return const_cast<Flag*>(std::as_const(*this).find(flag));
  }
  std::vector<Flag> flags_;
  std::map<uint64_t, Flag> shared_flags_;
  std::vector<Cover> covers_;
  bool any_ = false;
};

template <class Ends>
Lesson Releases::at_end(uint64_t flag, int bytes, Time since, Time now,
                        const Ends& ends) const {
  const Flag* const known = find(flag);
  const Lesson newest = at(flag, now);
  if (!known || known->address != flag || known->replaced ||
      known->watched_bytes != bytes || since < known->forgotten)
    return newest;
  const Flag& f = *known;
  const Change* first = nullptr;
  for (size_t k = f.changes.size(); k-- > 0;) {
    const Change& change = f.changes[k];
    if (change.time <= since || !change.is_seen || !ends(change.value)) break;
    first = &change;
  }
  return first ? first->lesson : newest;
}

}  // namespace simt
