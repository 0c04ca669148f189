// Runs a warp: paths, branches, and where they join.
#include <algorithm>
#include <cstring>

#include "common/simt/core/device.h"
#include "common/simt/core/lanes.h"
#include "common/simt/machine/block_run.h"
#include "common/simt/machine/warp_run.h"
#include "common/simt/observe/observers.h"

namespace simt {
namespace {

// A path may loop for so many of its warp's instructions before it gives way. A
// poll that finds what it found before counts for many; in the next turns of a
// path that is known to wait, for all of them.
constexpr uint64_t kTurn = 1 << 16;
constexpr uint64_t kPoll = kTurn / 64;
// Lanes at a join wait until a path before it has looped for 4 million
// instructions, or polled 512 times in vain.
constexpr uint32_t kPatienceOfPoll = 1;
constexpr uint32_t kPatienceOfPolls = kTurn / kPoll * kPatienceOfPoll;
constexpr uint32_t kPatience = 512 * kPatienceOfPoll;
constexpr uint32_t kPatienceOfTurn = kPatience / 64;

// 0 to 2: which of three registers, whose first is `x`.
int axis(Special special, Special x) {
  return static_cast<int>(special) - static_cast<int>(x);
}

}  // namespace

WarpRun::WarpRun(BlockRun& block, uint32_t index, uint32_t threads)
    : Warp(block, index, threads), home_(block) {
  const Program& program = block.grid->program;
  specials_.resize(program.specials.size());
  for (size_t k = 0; k < specials_.size(); ++k)
    set_special(program.specials[k].first, specials_[k].data());
  stacks.resize(size_t{program.entry->stack_bytes} * kLanes);
}

// Every special register but the block's own.
void WarpRun::set_special(Special special, uint32_t* value) {
  const LaunchShape& shape = block->grid->shape;
  const uint64_t workspace = block->grid->workspace;
  for (uint32_t l = 0; l < kLanes; ++l) {
    const uint32_t t = index * kLanes + l;
    const uint32_t bit = 1u << l;
    value[l] = [&]() -> uint32_t {
      switch (special) {
        case Special::kTidX:
          return t % shape.block[0];
        case Special::kTidY:
          return t / shape.block[0] % shape.block[1];
        case Special::kTidZ:
          return t / shape.block[0] / shape.block[1];
        case Special::kNtidX:
          return shape.block[0];
        case Special::kNtidY:
          return shape.block[1];
        case Special::kNtidZ:
          return shape.block[2];
        case Special::kNctaidX:
          return shape.grid[0];
        case Special::kNctaidY:
          return shape.grid[1];
        case Special::kNctaidZ:
          return shape.grid[2];
        case Special::kLaneId:
          return l;
        case Special::kWarpId:
          return index;
        case Special::kNwarpId:
          return model_device().threads_per_multiprocessor / kLanes;
        case Special::kLaneMaskEq:
          return bit;
        case Special::kLaneMaskLt:
          return bit - 1;
        case Special::kLaneMaskLe:
          return bit | (bit - 1);
        case Special::kLaneMaskGt:
          return ~(bit | (bit - 1));
        case Special::kLaneMaskGe:
          return ~(bit - 1);
        case Special::kNsmId:
          return block->grid->multiprocessors;
        case Special::kDynamicShared:
          return shape.dynamic_shared;
        case Special::kTotalShared:
          return block->grid->shared_bytes();
        case Special::kAllShared:
          return block->grid->shared_bytes() + Grid::kReservedShared;
        case Special::kReservedShared:
          return Grid::kReservedShared;
        case Special::kWorkspaceHigh:
          return workspace >> 32;
        case Special::kWorkspaceLow:
          return static_cast<uint32_t>(workspace);
        case Special::kClusterBlocks:
          return shape.cluster_blocks();
        case Special::kClusterNctaidX:
          return shape.cluster[0];
        case Special::kClusterNctaidY:
          return shape.cluster[1];
        case Special::kClusterNctaidZ:
          return shape.cluster[2];
        case Special::kNclusterIdX:
          return shape.grid[0] / shape.cluster[0];
        case Special::kNclusterIdY:
          return shape.grid[1] / shape.cluster[1];
        case Special::kNclusterIdZ:
          return shape.grid[2] / shape.cluster[2];
        case Special::kExplicitCluster:
          return shape.explicit_cluster ? kAllLanes : 0;
        default:
          return 0;
      }
    }();
  }
}

void WarpRun::set_specials(const Frame& frame) {
  const unsigned* size = block->grid->shape.cluster;
  for (size_t k = 0; k < specials_.size(); ++k) {
    const auto& [special, place] = block->grid->program.specials[k];
    auto* to = reinterpret_cast<uint32_t*>(frame.registers + place);
    switch (special) {
      case Special::kCtaidX:
      case Special::kCtaidY:
      case Special::kCtaidZ:
        std::fill_n(to, kLanes, block->id[axis(special, Special::kCtaidX)]);
        break;
      case Special::kClusterCtaidX:
      case Special::kClusterCtaidY:
      case Special::kClusterCtaidZ: {
        const int i = axis(special, Special::kClusterCtaidX);
        std::fill_n(to, kLanes, block->id[i] % size[i]);
        break;
      }
      case Special::kClusterIdX:
      case Special::kClusterIdY:
      case Special::kClusterIdZ: {
        const int i = axis(special, Special::kClusterIdX);
        std::fill_n(to, kLanes, block->id[i] / size[i]);
        break;
      }
      case Special::kClusterRank:
        std::fill_n(to, kLanes, block->rank);
        break;
      case Special::kSmId:
        std::fill_n(to, kLanes, block->number % block->grid->multiprocessors);
        break;
      default:
        std::copy_n(specials_[k].data(), kLanes, to);
    }
  }
  if (!block->cluster.empty()) set_shared_addresses(frame);
}

// They are the grid's, and say no rank yet.
void WarpRun::set_shared_addresses(const Frame& frame) {
  const Grid& grid = *block->grid;
  const uint64_t rank = uint64_t{block->rank} << kRankShift;
  const uint8_t* const end = grid.fixed.data() + grid.fixed.size();
  for (const auto* list :
       {&grid.program.static_shared_at, &grid.program.dynamic_shared,
        &grid.program.reserved_shared})
    for (const Program::Address& a : *list)
      for (int l = 0; l < kLanes; ++l) {
        uint64_t address = 0;
        std::memcpy(&address, end + a.at + l * a.bytes, a.bytes);
        address |= rank;
        std::memcpy(frame.registers + a.at + l * a.bytes, &address, a.bytes);
      }
}

void WarpRun::start() {
  live = threads;
  turn_end_ = issued + kTurn;
  clock_stood = 0;
  came_ = open_for_ = awaiting_ = 0;
  opened_for_collective_ = false;
  arrived_.fill(0);
  std::fill_n(copy_groups, kLanes, 0);
  std::fill_n(bulk_groups, kLanes, 0);
  product_groups = 0;
  products_begun = 0;
  fenced_products = false;
  waiting_.clear();
  ready_.clear();
}

void WarpRun::run() {
  state_known_ = false;
  if (!entry_) {
    Path path;
    path.mask = threads;
    path.frame = entry_ = new_frame(*block->grid->program.entry, 0, threads);
    run_path(path);
  }
  while (!ready_.empty()) {
    Path path = ready_.back();
    ready_.pop_back();
    run_path(path);
  }
  if (live == 0) {
    home_.free_frames.push_back(entry_);
    entry_ = nullptr;
  }
}

void WarpRun::enter(const Path& path) {
  registers = path.frame->registers;
  stack_base = path.frame->stack_base;
  variables = &path.frame->variables;
  auto& tops = path.frame->stack_tops;
  stack_tops = tops ? &*tops : nullptr;
  stack_end =
      tops ? tops->end() : stack_base + path.frame->function->stack_bytes;
}

// The lanes of `path` until they end, wait, or join others. Between events
// that concern more than their registers, all there is to know is in three
// local variables: that is where the executor spends its time.
void WarpRun::run_path(Path& path) {
  const Observers observers = block->observers;
  enter(path);
  for (;;) {
    const Instruction* const code = path.frame->function->code.data();
    const bool joins = path.join && path.join->frame == path.frame;
    const Instruction* const end = joins ? code + path.join->pc : nullptr;
    const Instruction* ins = code + path.pc;
    uint32_t mask = 0;
    for (;; ++ins) {
      if (ins == end) {
        path.pc = path.join->pc;
        return arrive(path);
      }
      mask = path.mask;
      if (ins->counted) observe::issue(observers, *ins, mask);
      if (const uint32_t length = ins->run_length) {
        issued += length;
        const Instruction* const last = ins + length - 1;
        for (; ins <= last; ins += ins->step) {
          if (tainted) observe::follow(*this, *ins, mask);
          ins->run(*this, *ins, mask);
        }
        ins = last;
        continue;
      }
      ++issued;
      if (tainted) observe::follow(*this, *ins, mask);
      if (ins->guard != kNowhere) {
        mask &= read_guard(*this, *ins);
      }
      if (ins->kind == Kind::kPlain) {
        if (mask) ins->run(*this, *ins, mask);
      } else if (ins->kind == Kind::kBranch &&
                 (mask == 0 || mask == path.mask) &&
                 (code + ins->target > ins || issued < turn_end_)) {
        if (ins->guard != kNowhere)
          observe::branch(observers, *ins, path.mask, mask);
        if (mask) ins = code + ins->target - 1;
      } else {
        break;
      }
    }
    path.pc = static_cast<uint32_t>(ins - code);
    if (!control(path, mask, *ins)) return;
  }
}

// Executes what is more than plain; returns whether `path` goes on.
bool WarpRun::control(Path& path, uint32_t mask, const Instruction& ins) {
  switch (ins.kind) {
    case Kind::kPlain:
      break;
    case Kind::kPoll:
      ++path.pc;
      if (polls_in_vain(path, ins, mask)) return give_way(path, true);
      return mask == 0 || !block->grid->takes_turns || take_turn(path);
    case Kind::kBranch: {
      const bool back = ins.target <= path.pc;
      if (ins.guard != kNowhere)
        observe::branch(block->observers, ins, path.mask, mask);
      if (mask == path.mask)
        path.pc = ins.target;
      else if (mask == 0)
        ++path.pc;
      else
        diverge(path, mask, ins.target, ins.reconverge);
      return !back || issued < turn_end_ || give_way(path, false);
    }
    case Kind::kTable:
      jump_by_table(path, mask, ins);
      break;
    case Kind::kCall:
    case Kind::kIndirect:
      return call_some(path, mask, ins);
    case Kind::kReturn:
      if (path.frame->caller)
        return_lanes(path, mask);
      else
        exit_lanes(path, mask);
      break;
    case Kind::kExit:
      exit_lanes(path, mask);
      break;
    case Kind::kBarrier:
      if (mask) arrive_at_barrier(path, mask, ins);
      path.mask &= ~mask;
      ++path.pc;
      break;
    case Kind::kArrive:
      if (mask) arrive_at_barrier(path, mask, ins);
      ++path.pc;
      break;
    case Kind::kClusterArrive:
      if (mask) arrive_in_cluster(mask, ins);
      ++path.pc;
      break;
    case Kind::kClusterWait:
      if (mask) path.mask &= ~wait_in_cluster(path, mask, ins);
      ++path.pc;
      break;
    case Kind::kWarpgroup:
      if (mask) meet_warpgroup(path, mask);
      path.mask &= ~mask;
      ++path.pc;
      break;
    case Kind::kCollective:
    case Kind::kMatrix:
      if (mask && !collective(path, mask, ins)) return false;
      ++path.pc;
      break;
  }
  return path.mask != 0;
}

void WarpRun::note_awaited(const Instruction& ins, uint32_t mask) {
  const bool in_vain = poll.unchanged || poll.slept;
  if (in_vain && ins.statement->name() == "mbarrier")
    awaiting_ |= mask;
  else if (!in_vain || ins.statement->name() != "nanosleep")
    awaiting_ &= ~mask;
}

// Executes what a wait may consist of; returns whether there has been enough of
// it.
bool WarpRun::polls_in_vain(const Path& path, const Instruction& ins,
                            uint32_t mask) {
  if (mask == 0) return false;
  poll = {};
  ins.run(*this, ins, mask);
  note_awaited(ins, mask);
  if (poll.slept) return true;
  if (!poll.unchanged) return false;
  uint64_t& before = found_[(ins.site ^ mask * 0x9e3779b9u >> 28) % 16];
  const bool in_vain = std::exchange(before, poll.outcome) == poll.outcome;
  if (in_vain) turn_end_ = std::max(turn_end_, issued + kPoll) - kPoll;
  return (in_vain && path.short_turns) || issued >= turn_end_;
}

// Lets the others have their turn: false, for `path` does not go on.
bool WarpRun::give_way(const Path& path, bool polls) {
  turn_end_ = issued + kTurn;
  Path& waiting = waiting_.emplace_back(path);
  waiting.state = Path::kGaveWay;
  waiting.polls = polls;
  const uint32_t cost = polls && path.short_turns ? kPatienceOfPoll
                        : polls                   ? kPatienceOfPolls
                                                  : kPatienceOfTurn;
  waiting.short_turns -= std::min<uint32_t>(waiting.short_turns, 1);
  for (Join* join = path.join; join; join = join->parent)
    join->patience -= std::min(join->patience, cost);
  home_.gave_way(polls);
  return false;
}

// The same, where it could go on: lanes at a join need not lose patience.
bool WarpRun::take_turn(const Path& path) {
  waiting_.emplace_back(path).state = Path::kGaveWay;
  home_.took_turn();
  return false;
}

// ---- Divergence ----------------------------------------------------------

// The join at `pc` for the lanes of `path`: the one they are bound for
// already, or a new one within it. None if they need not meet again.
Join* WarpRun::join_at(Path& path, uint32_t pc) {
  Join* outer = path.join;
  if (pc == ~0u) return outer;
  if (outer && outer->frame == path.frame && outer->pc == pc) return outer;
  if (free_joins_.empty()) {
    joins_.push_back(std::make_unique<Join>());
    free_joins_.push_back(joins_.back().get());
  }
  Join* join = free_joins_.back();
  free_joins_.pop_back();
  *join = {pc, path.frame, path.mask, 0, outer, kPatience};
  return join;
}

// Sends the lanes of `taken` to `target`; the others go on with `path`.
void WarpRun::diverge(Path& path, uint32_t taken, uint32_t target,
                      uint32_t join_pc) {
  path.join = join_at(path, join_pc);
  Path other = path;
  other.mask = taken;
  other.pc = target;
  path.mask &= ~taken;
  ++path.pc;
  if (!at_join(path)) return resume(other);
  if (merge(other)) return;
  // Lanes that leave a loop wait behind it, and the others go straight on.
  path.join->arrived |= path.mask;
  path = other;
}

// Puts lanes to others that are at the same place, if there are any.
bool WarpRun::merge(const Path& path) {
  for (Path& other : ready_) {
    if (!other.same_place(path)) continue;
    other.mask |= path.mask;
    return true;
  }
  return false;
}

void WarpRun::resume(const Path& path) {
  if (at_join(path)) return arrive(path);
  if (merge(path)) return;
  ready_.push_back(path);
  ready_.back().state = Path::kReady;
}

void WarpRun::arrive(const Path& path) {
  path.join->arrived |= path.mask;
  settle(path.join);
}

// Lets the lanes at a join go on once nobody is missing.
void WarpRun::settle(Join* join) {
  if (join->arrived != join->expected) return;
  const Join done = *join;
  join->arrived = 0;
  free_joins_.push_back(join);
  if (done.pc == Join::kReturn) {
    home_.free_frames.push_back(done.frame);
    observe::end_call(*this, done.frame->registers,
                      done.frame->function->register_bytes);
  }
  if (done.arrived)
    pass(done);
  else if (done.parent)  // All of them left.
    settle(done.parent);
}

// Lets the lanes go on that have arrived.
void WarpRun::pass(const Join& join) {
  Path path;
  path.mask = join.arrived;
  path.pc = join.pc;
  path.frame = join.frame;
  path.join = join.parent;
  if (join.pc == Join::kReturn) {
    hand_back(*join.frame, join.arrived);
    path.pc = join.frame->return_pc;
    path.frame = join.frame->caller;
  }
  resume(path);
}

// Lets them go on without those that are missing, who may meet here later.
bool WarpRun::open(Join& join) {
  if (join.arrived == 0) return false;
  pass(join);
  join.expected &= ~join.arrived;
  join.arrived = 0;
  join.patience = kPatience;
  return true;
}

// Nobody between these joins waits for the lanes of `mask` any more.
void WarpRun::leave(Join* innermost, const Join* outermost, uint32_t mask) {
  for (Join* j = innermost; j != outermost; j = j->parent) j->expected &= ~mask;
}

void WarpRun::exit_lanes(Path& path, uint32_t mask) {
  if (lacks(mask)) home_.lanes_went_elsewhere();
  live &= ~mask;
  block->live -= lane_count(mask);
  leave(path.join, nullptr, mask);
  leave_cluster_barrier(mask);
  complete_arrivals();
  path.mask &= ~mask;
  ++path.pc;
  if (path.mask == 0 && path.join) settle(path.join);
  if (!waiting_.empty()) complete_collectives();
  home_.check_barriers();
  if (path.mask) enter(path);
}

void WarpRun::jump_by_table(Path& path, uint32_t mask, const Instruction& ins) {
  const uint32_t* which = lanes<uint32_t>(*this, ins.source(0));
  path.join = join_at(path, ins.reconverge);
  for (uint32_t rest = mask; rest;) {
    const uint32_t k = which[first_lane(rest)];
    const uint32_t same = lanes_with(k, which, rest);
    if (k >= ins.targets().size())
      fault(*this, ins, first_lane(rest), "illegal instruction",
            "a jump table has no entry " + std::to_string(k), 715);
    Path other = path;
    other.mask = same;
    other.pc = ins.targets()[k];
    path.mask &= ~same;
    rest &= ~same;
    resume(other);
  }
  ++path.pc;
}

}  // namespace simt
