// A warp that runs: the paths its lanes are on.
//
// Each lane has its own program counter. Lanes that run together form a Path;
// a branch that divides them makes two, and a Join at the branch's immediate
// post-dominator, where those who arrive first wait for the others. This is
// what the convergence barriers of a GPU since Volta do.
//
// A join is our choice and none of the program's, so nobody may wait there for
// ever. Paths take turns: one that has gone round in loops for long, or reads
// the same again and again, gives way to the others; and lanes at a join go on
// without those that do not come.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/simt/core/block.h"
#include "common/simt/core/finding.h"
#include "common/simt/core/program.h"
#include "common/simt/core/warp.h"

namespace simt {

struct BlockRun;
struct Join;

// One call of a function by some lanes: its registers and where it returns.
struct Frame {
  const Function* function = nullptr;
  Frame* caller = nullptr;
  const Instruction* call = nullptr;  // the call, in the caller's code
  uint32_t return_pc = 0;
  uint32_t stack_base = 0;  // of this frame in the lanes' stacks
  Variables variables;
  std::optional<StackTops> stack_tops;  // none: the function allocates none
  Join* returned = nullptr;
  std::unique_ptr<uint8_t[]> storage;
  uint8_t* registers = nullptr;
};

struct Join {
  static constexpr uint32_t kReturn = ~1u;  // as pc: the end of a call
  uint32_t pc = 0;
  Frame* frame = nullptr;
  uint32_t expected = 0, arrived = 0;
  Join* parent = nullptr;
  uint32_t patience = 0;  // what those inside have left of it
};

// Lanes that run together: same frame, same program counter.
struct Path {
  enum State : uint8_t { kReady, kGaveWay, kAtBarrier, kAtCollective };
  uint32_t mask = 0;
  uint32_t pc = 0;
  Frame* frame = nullptr;
  Join* join = nullptr;
  State state = kReady;
  uint32_t members = 0;     // kAtCollective: the lanes it waits for
  uint32_t barrier = 0;     // kAtBarrier: its number
  bool polls = false;       // kGaveWay: it read the same again and again
  uint8_t short_turns = 0;  // so many end with the first poll in vain

  bool same_place(const Path& other) const {
    return pc == other.pc && frame == other.frame && join == other.join;
  }
};

class WarpRun : public Warp {
 public:
  WarpRun(BlockRun& block, uint32_t index, uint32_t threads);

  void start();  // at the kernel's first instruction, all lanes together
  bool ready() const { return !ready_.empty() || (!entry_ && live); }
  uint32_t waits_at(uint32_t barrier) const;  // which lanes
  bool waits_for_warpgroup() const {
    return waits_at(Block::kOfWarpgroups + index / Warpgroup::kWarps) != 0;
  }
  // Runs until every path has ended, waits or has given way.
  void run();
  // Makes the paths ready that gave way.
  void wake();
  // Its paths are known to wait: when memory has changed they look again, and
  // most of them will find that it is not what they wait for.
  void note_circle();
  // A number for all that decides what the warp does next, but for memory. Of a
  // warp that waits for others it says, unless `whole`, only how far it has
  // come: another number may then be the same state, found by other steps.
  uint64_t state(bool whole);
  // Lets lanes go on that wait at a join for paths of this state: they may hold
  // the lock that those want. Returns whether there were any.
  bool open_joins(Path::State state);
  // The same of those that have returned from a call, for paths at a barrier.
  bool open_returns();
  // Whether a collective waits for some of these lanes since joins were opened
  // for it.
  bool lacks(uint32_t mask) const;
  // Whether all who have given way wait at barriers in shared memory.
  bool only_awaits() const;
  // Whether some go round in a loop that consists of its branch.
  bool loops_idly() const;
  // Do lanes wait in code of cooperative groups, as in grid.sync()?
  bool waits_for_group() const;
  void release(uint32_t barrier);
  void open_cluster_barrier();
  std::string describe_waiting() const;
  // The first lanes that wait in this way; null if there are none.
  const Path* waiting(Path::State state) const;
  Finding finding(const Path& path, const std::string& kind,
                  const std::string& what) const;

 private:
  void run_path(Path& path);
  bool control(Path& path, uint32_t mask, const Instruction& ins);
  void note_awaited(const Instruction& ins, uint32_t mask);
  bool polls_in_vain(const Path& path, const Instruction& ins, uint32_t mask);
  bool give_way(const Path& path, bool polls);
  bool take_turn(const Path& path);
  bool call_some(Path& path, uint32_t mask, const Instruction& ins);
  void enter(const Path& path);
  void diverge(Path& path, uint32_t taken, uint32_t target, uint32_t join_pc);
  Join* join_at(Path& path, uint32_t pc);
  bool at_join(const Path& path) const {
    return path.join && path.join->frame == path.frame &&
           path.join->pc == path.pc;
  }
  bool merge(const Path& path);
  void resume(const Path& path);
  void arrive(const Path& path);
  void settle(Join* join);
  void pass(const Join& join);
  bool open(Join& join);
  void leave(Join* innermost, const Join* outermost, uint32_t mask);
  void exit_lanes(Path& path, uint32_t mask);
  void call(Path& path, const Function& callee, const Instruction& ins);
  void call_indirect(Path& path, uint32_t mask, const Instruction& ins);
  void jump_by_table(Path& path, uint32_t mask, const Instruction& ins);
  void return_lanes(Path& path, uint32_t mask);
  void hand_back(const Frame& frame, uint32_t mask);
  void copy_stack(uint32_t mask, uint32_t from, uint32_t to, uint32_t bytes);
  void arrive_at_barrier(const Path& path, uint32_t mask,
                         const Instruction& ins);
  uint32_t said_by_all(const Instruction& ins, int source, uint32_t mask);
  void complete_arrival(uint32_t number);
  void complete_arrivals();
  void pass_barrier(Path& path);
  void meet_warpgroup(const Path& path, uint32_t mask);
  void arrive_in_cluster(uint32_t mask, const Instruction& ins);
  uint32_t wait_in_cluster(const Path& path, uint32_t mask,
                           const Instruction& ins);
  void leave_cluster_barrier(uint32_t mask);
  void check_barrier_count(const Instruction& ins, uint32_t mask,
                           uint32_t count) const;
  bool collective(Path& path, uint32_t mask, const Instruction& ins);
  void publish(const Instruction& ins, uint32_t mask);
  void run_collective(const Instruction& ins, uint32_t mask, uint32_t here,
                      uint32_t members);
  void complete_collectives();
  bool complete_collective(const Path& one);
  void set_special(Special special, uint32_t* value);
  void set_specials(const Frame& frame);
  void set_shared_addresses(const Frame& frame);
  Frame* new_frame(const Function& function, uint32_t stack_base,
                   uint32_t mask);
  std::string thread_name(int lane) const;

  BlockRun& home_;
  std::vector<Path> ready_, waiting_;
  std::vector<std::unique_ptr<Join>> joins_;
  std::vector<Join*> free_joins_;
  std::vector<std::array<uint32_t, kLanes>> specials_;  // but the block's own
  Frame* entry_ = nullptr;  // null: the warp has not begun, or has ended
  uint64_t turn_end_ = 0;   // as `issued`: who loops on then gives way
  // What polls found last, each where its place and lanes say.
  std::array<uint64_t, 16> found_{};
  // Lanes that have come to each barrier with a thread count, as long as
  // others of the warp have not.
  std::array<uint32_t, Block::kBarriers> arrived_{};
  // Lanes that have come to the cluster's barrier and not gone on from it:
  // while it is closed, and since it is open.
  uint32_t came_ = 0, open_for_ = 0;
  // Lanes that have last looked in vain at an mbarrier, and slept since.
  uint32_t awaiting_ = 0;
  bool opened_for_collective_ = false;
  bool state_known_ = false, whole_ = false;
  uint64_t state_ = 0;
};

}  // namespace simt
