// Finds what a kernel does wrong without being stopped by it: races, values
// that nobody wrote (values.h), a shared array left for its neighbour, barriers
// that differ, masks from activemask.
//
// Bounds and alignment are not its business: isa/memory.cpp always checks them,
// for the host's own sake.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "common/simt/core/access.h"
#include "common/simt/core/block.h"
#include "common/simt/core/byte_set.h"
#include "common/simt/core/finding.h"
#include "common/simt/memory/images.h"
#include "common/simt/memory/undo.h"
#include "common/simt/observe/footprint.h"
#include "common/simt/observe/handover.h"
#include "common/simt/observe/kin.h"
#include "common/simt/observe/order.h"
#include "common/simt/observe/releases.h"
#include "common/simt/observe/shadow.h"
#include "common/simt/observe/values.h"

namespace simt {

// What to say of two accesses that nothing orders, from nothing to worst.
enum class Verdict : uint8_t { kFine, kSameValue, kSameEnd, kGuess, kRace };
struct Conflict {
  Verdict verdict = Verdict::kFine;
  int lane = 0, other_lane = 0;
  uint64_t address = 0;
};

// What the checker knows of one block.
struct BlockChecks {
  BlockChecks(size_t shared_bytes, uint32_t threads);

  BlockOrder order;
  Shadow shared;
  std::vector<uint64_t> written_bits;
  ByteSet written;  // of shared memory
  std::vector<uint64_t> busy_bits;
  ByteSet busy;   // of shared memory, too: asynchronous copies are at it
  Copies copies;  // of what nobody has written, there
  std::vector<WarpValues> values;

  // Of a launch that may begin before the kernel in front is done: threads that
  // waited for it, and by warp the lanes that have or come behind one that has.
  struct Wait {
    uint32_t warp;
    int lane;
    Time time;
  };
  std::vector<Wait> waits;
  std::vector<uint32_t> waited;
  bool lets_next_begin = false;  // said by a thread that had not waited

  // Loads of shared memory since all threads last met, while nobody has stored
  // there: nothing can be wrong with them, and mostly nothing ever is, so they
  // are entered only if somebody stores, or if some of the threads meet.
  struct Load {
    Warp* warp;
    const Instruction* ins;
    Access access;
  };
  std::vector<Load> postponed;
  bool postpones = true;

  // Stores to a word of shared memory that nothing orders. They matter only if
  // somebody reads the word: what scatters throw away goes where nobody looks.
  struct Clash {
    Warp* warp;  // of the later store
    const Instruction* ins;
    Access access;
    Conflict conflict;
    Event other;
    Time other_time;
    bool in_warp;   // all of them are this warp's
    Time end;       // all of them came before
    uint8_t bytes;  // of the word
  };
  std::map<uint64_t, Clash> clashes;  // by number of the word
};

// The memory of a checker; kept from launch to launch, for it is large.
struct CheckerTables {
  // Of the last 16 MiB by lines and 1 MiB by words; 16 MiB in all.
  CheckerTables() : global(1 << 17, 1 << 18) {}
  EventLog log;
  Shadow global;
  Releases releases;
};

// One host thread's checks of a launch.
class Checker {
 public:
  explicit Checker(const Grid& grid);
  ~Checker();

  void start(Block& block);
  void end(Block& block);
  void access(Warp& warp, const Instruction& ins, const Access& access);
  void private_access(Warp& warp, const Instruction& ins, const Access& access);
  void texture(const Texture& texture);
  void texel(Warp& warp, const Instruction& ins, int lane, uint64_t address,
             uint32_t bytes, const uint8_t* written);
  // Lanes begin to copy; copies of `mask` are about to be made.
  void begin(const AsyncCopy& copy);
  void end(const AsyncCopy& copy, uint32_t mask);
  void take(const AsyncCopy& copy);
  void abandon(const AsyncCopy& copy);
  // A warp begins to multiply; one of its warpgroup has waited for that, which
  // returns whether it is to be kept; before that a warp is at an instruction.
  void begin(const AsyncProduct& product);
  bool waited(AsyncProduct& product, const Warp& warp);
  void follow(Warp& warp, const Instruction& ins, uint32_t mask);
  // Lanes do something at barriers in shared memory; lanes of `mask` arrive.
  void mbarrier(Warp& warp, const Instruction& ins, const Access& a);
  void hand_over(Warp& warp, const Access& barriers, int lane);
  void collective(Warp& warp, const Instruction& ins, uint32_t mask,
                  uint32_t members);
  void unknown_conversion(const Warp& warp, const Instruction& ins, int lane,
                          std::string conversion);
  void fence(Warp& warp, const Instruction& ins, uint32_t mask);
  void fence_for_copies(Warp& warp);
  void fence_inits(Warp& warp);
  // Lanes have waited for the kernel in front; lanes let the next one begin.
  void wait_for_front(Warp& warp, uint32_t mask);
  void let_next_begin(Warp& warp, uint32_t mask);
  void arrive(Warp& warp, const Instruction& ins, uint32_t mask,
              uint32_t barrier);
  void arrive_relaxed(Warp& warp, uint32_t barrier);
  // A warp goes on from the cluster's barrier, which has been open for a while.
  void pass(Warp& warp, uint32_t barrier);
  // A barrier of the block opens; `counted`: not for all of its threads.
  // The lanes `waiting` go on.
  void release(Block& block, uint32_t barrier, bool counted,
               const LanesByWarp& waiting);
  Values& values() { return values_; }
  // What a lane knows that launches another grid now.
  Moment moment(const Warp& warp, int lane) const;

  // What was found, each once, in the order in which it was found first.
  std::vector<Finding> findings() const;
  // Where the launch went in global memory, if its operation asks for it.
  Footprint footprint();
  const Handover& handover() const { return handover_; }
  // What was loaded of it, if the launch may be taken back.
  TouchedBytes loaded();
  void add(Checker& other);

 private:
  friend class Values;  // finds its own, and reports it here

  // An access being checked, by one run of its lanes.
  struct Mine {
    Warp& warp;
    const Instruction& ins;
    const Access& access;
    BlockOrder& block;
    WarpOrder& order;
    Shadow& shadow;
    Time horizon;      // what is older is ordered before all of us
    Time first_event;  // of this instruction
    bool stores;
    const AsyncCopy* copy = nullptr;  // it is this one's
    bool enters = true;               // what comes is to be compared with it
  };

  bool is_reserved(const Access& a) const;
  void check_origin(Warp& warp, const Instruction& ins, const Access& a);
  void note_absent(Block& block, const Instruction& ins);
  void note_visit(Warp& warp, const Instruction& ins, const Access& a);
  bool reaches(const Instruction& ins, const Mine& mine,
               const Event& event) const;

  void check_order(Warp& warp, const Instruction& ins, const Access& a);
  void check_order(Mine& mine);
  bool postpones(Warp& warp, const Instruction& ins, const Access& a);
  void enter_postponed(Block& block);
  Mine mine_of(Warp& warp, const Instruction& ins, const Access& a);
  // The lanes that do not drop what the load brings.
  uint32_t keepers(Warp& warp, const Instruction& load) const;
  void synchronise(Mine& mine);
  Lesson waited_for(Mine& mine, int lane, uint64_t flag);
  void check_run(Mine& mine, int first, int lanes);
  void check_lane(Mine& mine, int lane, Time time);
  void against_run(Mine& mine, Time time, const Event& run, uint64_t begin,
                   uint64_t end);
  void against_words(Mine& mine, const Event& run, uint64_t begin,
                     uint64_t end);
  void against_word(Mine& mine, const Word& word, uint64_t at,
                    const Touch& touch);
  void compare(Mine& mine, Conflict& conflict, const Event& event, Time time,
               int lane, int other, uint64_t address);
  Verdict judge(const Mine& mine, const Event& event, Time time, int lane,
                int other);
  bool ordered(const Mine& mine, const Event& event, Time time, int lane,
               int other) const;
  bool may_meet(const Mine& mine, const Event& event) const;
  bool is_stale(const Mine& mine, const Event& event) const;
  bool waited(const Mine& mine, const Word& word, const Event& event,
              Time time) const;
  bool counted(const Mine& mine, const Word& word, const Event& event,
               Time time, int lane) const;
  bool stores_same(const Mine& mine, int lane, int other) const;
  bool copies_same(const Mine& mine, int lane, int other) const;
  void check_copy(const AsyncCopy& copy, const Access& a, uint32_t mask,
                  bool ends);
  // What reads shared memory as bulk copies do, and is told of.
  struct Reader {
    Warp& warp;
    const Instruction& ins;
    int lane;
    std::string name;
  };
  void check_fence(const AsyncCopy& copy);
  bool is_unfenced(const Reader& reader, uint64_t begin, uint64_t end);
  void unfenced_write(const Reader& reader, const Event& event, int other,
                      uint64_t address);
  bool told(const Mine& mine, const Event& event, Time time) const;
  void against_copies(const Mine& mine);
  void against_copy(const Mine& mine, const AsyncCopy& copy, const Access& a);
  void against_part(const Mine& mine, const AsyncCopy& copy, const Access& a,
                    bool is_target);
  void early(const Mine& mine, int lane, const AsyncCopy& copy, int other,
             uint64_t address, bool is_target);

  // Products that go on beside their warps.
  void check_reads(const AsyncProduct& product);
  void check_fences(const AsyncProduct& product);
  void against_products(const Mine& mine, Block& block);
  bool has_read(const Mine& mine, int lane, const Block& block,
                const AsyncProduct& product) const;
  void overwritten(const Mine& mine, int lane, const AsyncProduct& product,
                   uint64_t address);
  void carry(Warp& warp, const Instruction& ins, uint64_t memory);
  bool is_lost(const Warp& warp, const uint8_t* at) const;
  void not_awaited(Warp& warp, const Instruction& ins, const InFlight& result,
                   const char* does);
  bool is_clash(const Mine& mine, const Event& event) const;
  void enter_clash(const Mine& mine, const Conflict& conflict,
                   const Event& event, Time time, uint8_t bytes);
  void settle_clashes(const Warp& warp, const Access& a);
  bool ends_the_same(const Mine& mine, int lane, const Test& test,
                     const TestedStore& tested) const;
  uint64_t bits_there(const Mine& mine, int lane) const;
  // In a register of so many bytes.
  void enter_run(Mine& mine, std::span<Time> slots, Time time, uint64_t begin,
                 uint64_t end);
  Strength meets(const Mine& mine, Strength strength) const;
  bool replaces(const Mine& mine, const Event& run, const Event& event,
                Time time, uint64_t begin, uint64_t end) const;
  void enter_lane(Mine& mine, Word& word, const Touch& touch);
  void keep_other_bytes(const Mine& mine, Word& word, const Touch& touch) const;
  bool is_of_others(const Mine& mine, Time time) const;
  Event event_of(const Mine& mine, int first, int lanes) const;

  // Grids that launch one another.
  void check_kin(Warp& warp, const Instruction& ins, const Access& a);
  void against_kin(const Mine& mine, int lane, uint64_t word,
                   const Kin::Touch& other);
  void race_of_kin(const Mine& mine, int lane, uint64_t address,
                   const Kin::Touch& other);

  bool looked_back(const Mine& mine, const Event& event) const;
  void race(const Mine& mine, const Conflict& conflict, const Event& event,
            Time time);
  std::string remedy(const Mine& mine, const Conflict& conflict,
                     const Event& event, Time time) const;
  void place_other(Finding& f, const Instruction& ins, uint32_t block,
                   uint32_t thread) const;
  struct Seen {
    Finding finding;
    uint64_t number = 0, count = 0;
  };
  // What was found at these two instructions; null: report() it.
  Seen* seen(const char* kind, uint32_t site, uint32_t other);
  void report(const char* kind, uint32_t site, uint32_t other, Finding f);
  const Instruction& instruction(uint32_t site) const;

  // For the operation that the launch is.
  [[gnu::noinline]] void note_trail(const Warp& warp, const Instruction& ins,
                                    const Access& a, uint32_t mask);
  void note_trail(const AsyncCopy& copy);
  void note_parts(const Warp& warp, const Instruction& ins, const Access& a,
                  uint32_t mask);
  uint32_t early_lanes(const Warp& warp, uint32_t mask);
  bool comes_behind(const Warp& warp, int lane,
                    const BlockChecks::Wait& wait) const;
  void note_for_undo(const Warp& warp, const Instruction& ins, const Access& a,
                     uint32_t mask);
  void note_flag(const Access& a);

  const Grid& grid_;
  Values values_;
  std::unique_ptr<Trails> trails_;      // null: nobody wants to know
  std::optional<Undo::Keeper> keeper_;  // none: it is not taken back
  std::unique_ptr<CheckerTables> tables_;
  const Time begin_;    // of the launch
  const bool alone_;    // the only host thread
  const bool watches_;  // some loop of the kernel may wait for a flag
  // Loads of global memory are compared with stores in the end, by where they
  // went, and not one by one.
  const bool loads_apart_;
  const Texture* texture_ = nullptr;  // that was read last
  int early_stores_ = 0;
  Handover handover_;
  using Key = std::tuple<std::string_view, uint32_t, uint32_t>;
  bool is_explained(const Key& key) const;
  std::map<Key, Seen> seen_;
};

}  // namespace simt
