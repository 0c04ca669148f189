// Where lanes wait: for their turn, at a barrier of the block, in a collective
// of the warp.
#include <algorithm>

#include "common/simt/core/digest.h"
#include "common/simt/core/lanes.h"
#include "common/simt/machine/block_run.h"
#include "common/simt/observe/observers.h"

namespace simt {
// ---- Turns ---------------------------------------------------------------

void WarpRun::wake() {
  for (const auto& join : joins_)
    if (join->patience == 0) open(*join);
  std::vector<Path> back;
  std::erase_if(waiting_, [&](const Path& path) {
    if (path.state != Path::kGaveWay) return false;
    back.push_back(path);
    return true;
  });
  for (const Path& path : back) resume(path);
}

void WarpRun::note_circle() {
  constexpr uint8_t kShortTurns = 8;
  for (Path& path : waiting_) path.short_turns = kShortTurns;
}

bool WarpRun::open_joins(Path::State state) {
  bool any = false;
  for (const Path& path : waiting_) {
    if (path.state != state) continue;
    for (Join* join = path.join; join; join = join->parent) any |= open(*join);
  }
  if (any) state_known_ = false;
  if (state == Path::kAtCollective) opened_for_collective_ |= any;
  return any;
}

bool WarpRun::open_returns() {
  const auto returns = [](const Join& join) {
    return join.pc == Join::kReturn ||
           join.frame->function->code[join.pc].kind == Kind::kReturn;
  };
  bool any = false;
  for (const Path& path : waiting_)
    for (Join* join = path.join; join && path.state == Path::kAtBarrier;
         join = join->parent)
      if (returns(*join)) any |= open(*join);
  if (any) state_known_ = false;
  return any;
}

bool WarpRun::lacks(uint32_t mask) const {
  return opened_for_collective_ &&
         std::any_of(waiting_.begin(), waiting_.end(), [&](const Path& p) {
           return p.state == Path::kAtCollective && (p.members & mask) != 0;
         });
}

uint64_t WarpRun::state(bool whole) {
  whole = whole || ready() || waiting(Path::kGaveWay);
  if (state_known_ && whole_ == whole) return state_;
  Digest digest;
  digest.add(whole ? 0 : issued);
  digest.add(live);
  digest.add(uint64_t{came_} << 32 | open_for_);
  digest.add(turn_end_ - issued);
  digest.add(carry);
  digest.add(found_.data(), sizeof found_);
  if (whole) digest.add(stacks.data(), stacks.size());
  for (const auto* paths : {&ready_, &waiting_}) {
    for (const Path& path : *paths) {
      digest.add(uint64_t{path.mask} << 32 | path.pc);
      digest.add(uint64_t{path.members} << 32 | path.barrier << 8 | path.state);
      for (const Frame* f = path.frame; f; f = f->caller) {
        digest.add(reinterpret_cast<uint64_t>(f));
        if (whole) digest.add(f->registers, f->function->register_bytes);
      }
      for (const Join* join = path.join; join; join = join->parent) {
        digest.add(reinterpret_cast<uint64_t>(join));
        digest.add(uint64_t{join->expected} << 32 | join->arrived);
      }
    }
  }
  state_known_ = true;
  whole_ = whole;
  return state_ = digest.sum();
}

uint32_t WarpRun::waits_at(uint32_t barrier) const {
  uint32_t waits = 0;
  for (const Path& p : waiting_)
    if (p.state == Path::kAtBarrier && p.barrier == barrier) waits |= p.mask;
  return waits;
}

const Path* WarpRun::waiting(Path::State state) const {
  const auto found =
      std::find_if(waiting_.begin(), waiting_.end(),
                   [&](const Path& p) { return p.state == state; });
  return found == waiting_.end() ? nullptr : &*found;
}

// ---- Barriers ------------------------------------------------------------

// What the lanes of `mask` that come together all say. An H200 ends a kernel in
// which they differ.
uint32_t WarpRun::said_by_all(const Instruction& ins, int source,
                              uint32_t mask) {
  const Place place = ins.source(source);
  const uint32_t* said = lanes<uint32_t>(*this, place);
  const uint32_t one = said[first_lane(mask)];
  if (place < 0) return one;  // A number, or a parameter: all lanes have it.
  if (const uint32_t others = mask & ~lanes_with(one, said, mask))
    fault(*this, ins, first_lane(others), "bad barrier",
          "lanes of a warp come together to barriers of different " +
              std::string(source ? "sizes" : "numbers") + ", " +
              std::to_string(one) + " and " +
              std::to_string(said[first_lane(others)]),
          kIllegalInstruction);
  return one;
}

void WarpRun::arrive_at_barrier(const Path& path, uint32_t mask,
                                const Instruction& ins) {
  if (lacks(mask)) home_.lanes_went_elsewhere();
  const uint32_t number = said_by_all(ins, 0, mask);
  if (number >= Block::kBarriers)
    fault(*this, ins, first_lane(mask), "bad barrier",
          "there are barriers 0 to 15, not " + std::to_string(number),
          kLaunchFailure);
  const bool counted = ins.source(1) != kNowhere;
  const uint32_t expected = counted ? said_by_all(ins, 1, mask) : 0;
  if (counted) check_barrier_count(ins, mask, expected);
  if (ins.whole_warps && mask != live)
    fault(*this, ins, first_lane(mask), "bad barrier",
          std::to_string(lane_count(mask)) + " of the warp's " +
              std::to_string(lane_count(live)) +
              " threads come to a bar.arrive, which counts the warp as a "
              "whole: barrier.arrive without .aligned counts threads",
          kLaunchFailure);
  observe::arrive(*this, ins, mask, number);
  Barrier& barrier = block->barriers[number];
  home_.awaited |= 1u << number;
  barrier.expected = expected;
  if (ins.source_count > 2) {  // bar.red
    barrier.count += lane_count(read_predicate(*this, ins, 2) & mask);
    barrier.lanes += lane_count(mask);
  }
  barrier.arrived += lane_count(mask);
  if (barrier.expected) {
    arrived_[number] |= mask;
    complete_arrival(number);
  }
  if (ins.kind == Kind::kBarrier) {
    Path& waiting = waiting_.emplace_back(path);
    waiting.mask = mask;
    waiting.state = Path::kAtBarrier;
    waiting.barrier = number;
  }
  home_.check_barrier(number);
  enter(path);
}

// With a thread count, warps count as a whole: a ragged one stands for 32, once
// its last lanes are there, or have ended.
void WarpRun::complete_arrival(uint32_t number) {
  uint32_t& arrived = arrived_[number];
  if (arrived == 0 || (live & ~arrived) != 0) return;
  block->barriers[number].arrived += kLanes - lane_count(arrived);
  arrived = 0;
}

void WarpRun::complete_arrivals() {
  constexpr uint32_t kOfBlock = (1u << Block::kBarriers) - 1;
  for (uint32_t rest = home_.awaited & kOfBlock; rest; rest &= rest - 1)
    complete_arrival(first_lane(rest));
}

// Threads come to a barrier by whole warps, and there are only so many.
void WarpRun::check_barrier_count(const Instruction& ins, uint32_t mask,
                                  uint32_t count) const {
  const uint32_t most = block->grid->warps() * kLanes;
  if (count != 0 && count <= most && count % kLanes == 0) return;
  fault(*this, ins, first_lane(mask), "bad barrier",
        "it waits for " + std::to_string(count) + " threads" +
            (count > most ? ", and the block has " +
                                std::to_string(block->grid->threads_per_block)
                          : ": barriers count whole warps, so this must be a "
                            "multiple of 32"),
        kLaunchFailure);
}

// The barrier at which `path` waits has opened: bar.red has a result to tell.
void WarpRun::pass_barrier(Path& path) {
  const Instruction& ins = path.frame->function->code[path.pc];
  if (ins.run) {
    enter(path);
    ins.run(*this, ins, path.mask);
  }
  if (ins.kind == Kind::kClusterWait) open_for_ &= ~path.mask;
  ++path.pc;
}

void WarpRun::release(uint32_t barrier) {
  if (barrier < Block::kBarriers) arrived_[barrier] = 0;
  const auto waits = [&](const Path& path) {
    return path.state == Path::kAtBarrier && path.barrier == barrier;
  };
  // Nearly always: the whole warp waits, and is ready without a copy.
  if (waiting_.size() == 1 && ready_.empty() && waits(waiting_[0])) {
    Path& path = waiting_[0];
    pass_barrier(path);
    path.state = Path::kReady;
    ready_.swap(waiting_);
    if (!at_join(ready_[0])) return;
    const Path joining = ready_[0];
    ready_.clear();
    return arrive(joining);
  }
  for (size_t k = 0; k < waiting_.size();) {
    if (!waits(waiting_[k])) {
      ++k;
      continue;
    }
    Path path = waiting_[k];
    waiting_.erase(waiting_.begin() + k);
    pass_barrier(path);
    resume(path);
  }
}

// It orders no memory, and is nobody's barrier but the executor's.
void WarpRun::meet_warpgroup(const Path& path, uint32_t mask) {
  const uint32_t group = index / Warpgroup::kWarps;
  Path& waiting = waiting_.emplace_back(path);
  waiting.mask = mask;
  waiting.state = Path::kAtBarrier;
  waiting.barrier = Block::kOfWarpgroups + group;
  home_.check_warpgroup(group);
  enter(path);
}

// ---- The barrier of the cluster ------------------------------------------

void WarpRun::arrive_in_cluster(uint32_t mask, const Instruction& ins) {
  if (const uint32_t again = mask & (came_ | open_for_))
    fault(*this, ins, first_lane(again), "bad barrier",
          "it arrives again at the cluster's barrier, and has not waited there "
          "in between",
          kLaunchFailure);
  const uint32_t number = block->cluster_barrier;
  if (ins.releases)
    observe::arrive(*this, ins, mask, number);
  else
    observe::arrive_relaxed(*this, ins, number);
  came_ |= mask;
  home_.awaited |= 1u << number;
  block->barriers[number].arrived += lane_count(mask);
  home_.check_barrier(number);
}

// Returns the lanes that cannot go on yet.
uint32_t WarpRun::wait_in_cluster(const Path& path, uint32_t mask,
                                  const Instruction& ins) {
  if (const uint32_t absent = mask & ~(came_ | open_for_))
    fault(*this, ins, first_lane(absent), "bad barrier",
          "it waits at the cluster's barrier, and has not arrived there",
          kLaunchFailure);
  if (mask & open_for_) observe::pass(*this, block->cluster_barrier ^ 1);
  open_for_ &= ~mask;
  const uint32_t waits = mask & came_;
  if (waits) {
    Path& waiting = waiting_.emplace_back(path);
    waiting.mask = waits;
    waiting.state = Path::kAtBarrier;
    waiting.barrier = block->cluster_barrier;
  }
  return waits;
}

void WarpRun::open_cluster_barrier() {
  open_for_ |= came_;
  came_ = 0;
}

// Lanes that have ended are waited for no more, whether they came or not.
void WarpRun::leave_cluster_barrier(uint32_t mask) {
  block->barriers[block->cluster_barrier].arrived -= lane_count(came_ & mask);
  came_ &= ~mask;
  open_for_ &= ~mask;
}

// ---- Collectives ---------------------------------------------------------

namespace {

bool same_collective(const Path& p, const Path& q) {
  const Instruction& a = p.frame->function->code[p.pc];
  const Instruction& b = q.frame->function->code[q.pc];
  return a.run == b.run && p.members == q.members;
}

}  // namespace

// Lays out the operands of `mask` for the other members to read.
void WarpRun::publish(const Instruction& ins, uint32_t mask) {
  const auto copy = [&](auto* to, const auto* from) {
    if (mask == kAllLanes) {
      for (int l = 0; l < kLanes; ++l) to[l] = from[l];
      return;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1)
      to[first_lane(rest)] = from[first_lane(rest)];
  };
  if (ins.from_bytes == 8)
    copy(exchange.a, lanes<uint64_t>(*this, ins.source(0)));
  else if (ins.from_bytes == 4)
    copy(exchange.a, lanes<uint32_t>(*this, ins.source(0)));
  else if (ins.votes())
    exchange.predicate =
        (exchange.predicate & ~mask) | (read_predicate(*this, ins, 0) & mask);
  if (ins.shuffles()) {
    copy(exchange.b, lanes<uint32_t>(*this, ins.source(1)));
    copy(exchange.c, lanes<uint32_t>(*this, ins.source(2)));
  }
  observe::publish(*this, ins, mask);
}

// Runs a collective if all its members are here; otherwise its lanes wait.
// Returns whether `path` goes on, with all of its lanes.
bool WarpRun::collective(Path& path, uint32_t mask, const Instruction& ins) {
  const uint32_t* member = lanes<uint32_t>(*this, ins.sources().back());
  if (ins.kind == Kind::kCollective) publish(ins, mask);
  const uint32_t all = member[first_lane(mask)];
  const uint32_t same = lanes_with(all, member, mask);
  if (same == mask && (all & live) == mask && mask == path.mask) {
    run_collective(ins, mask, mask, all);
    return true;
  }
  Path rest = path;
  rest.mask &= ~mask;
  ++rest.pc;
  if (rest.mask) resume(rest);
  for (uint32_t left = mask; left;) {
    const uint32_t members = member[first_lane(left)];
    Path group = path;
    group.mask = lanes_with(members, member, left);
    left &= ~group.mask;
    if (const uint32_t outside = group.mask & ~members)
      fault(*this, ins, first_lane(outside), "bad member mask",
            "the mask " + hex_mask(members) +
                " of a warp collective excludes the lane that calls it",
            kLaunchFailure);
    group.state = Path::kAtCollective;
    group.members = members;
    waiting_.push_back(group);
  }
  complete_collectives();
  return false;
}

// `here` came, of which lanes of `mask` by this instruction.
void WarpRun::run_collective(const Instruction& ins, uint32_t mask,
                             uint32_t here, uint32_t members) {
  exchange.members = here;
  const bool exchanges = ins.kind == Kind::kCollective;
  if (exchanges) observe::collective(*this, ins, mask, members);
  ins.run(*this, ins, mask);
  if (exchanges && ins.shuffles()) observe::shuffled(*this, ins, mask);
}

// Completes every collective whose members have all come or gone.
void WarpRun::complete_collectives() {
  for (size_t k = 0; k < waiting_.size();) {
    const Path path = waiting_[k];
    if (path.state == Path::kAtCollective && complete_collective(path))
      k = 0;
    else
      ++k;
  }
}

bool WarpRun::complete_collective(const Path& one) {
  const auto with_it = [&](const Path& p) {
    return p.state == Path::kAtCollective && same_collective(p, one);
  };
  uint32_t here = 0;
  for (const Path& p : waiting_)
    if (with_it(p)) here |= p.mask;
  if ((one.members & live) != here) return false;
  std::vector<Path> together;
  std::copy_if(waiting_.begin(), waiting_.end(), std::back_inserter(together),
               with_it);
  std::erase_if(waiting_, with_it);
  opened_for_collective_ = false;  // It helped.
  const Path first = together.front();
  const bool same_place =
      std::all_of(together.begin(), together.end(), [&](const Path& p) {
        return p.pc == first.pc && p.frame == first.frame;
      });
  for (Path& p : together) {
    const Instruction& ins = p.frame->function->code[p.pc];
    enter(p);
    // What is made of all lanes' registers is made once.
    const bool once = ins.kind == Kind::kMatrix && same_place;
    if (!once || p.mask == first.mask)
      run_collective(ins, once ? here : p.mask, here, one.members);
    ++p.pc;
    resume(p);
  }
  return true;
}

}  // namespace simt
