#include "common/simt/warp.h"

#include <algorithm>

#include "common/simt/grid.h"

namespace simt {
namespace {

// So many polls in a row without news make a spin.
constexpr uint32_t kSpin = 64;
// So many backward branches, and a path lets others run in between.
constexpr uint32_t kTurn = 1u << 20;
// A thread's local memory on every current GPU: 512 KiB.
constexpr uint32_t kStackLimit = 512 << 10;

int first_lane(uint32_t mask) { return std::countr_zero(mask); }

uint32_t bits(uint32_t mask) { return std::popcount(mask); }

}  // namespace

Warp::Warp(Block& block, uint32_t index, uint32_t mask)
    : block(&block), index(index), all_(mask) {
  const Program& program = block.grid->program;
  bank[1] = block.grid->constants.data();
  specials_.resize(program.special_bytes);
  bank[2] = specials_.data();
  entry_ = new_frame(*program.entry);
  stack_.resize(size_t{program.entry->stack_bytes} * kLanes);
  for (const auto& [special, at] : program.specials) set_special(special, at);
}

// Every special register but the block's own, which start() sets.
void Warp::set_special(Special special, uint32_t at) {
  const LaunchShape& shape = block->grid->shape;
  const uint32_t threads = block->grid->threads_per_block;
  const uint64_t workspace = block->grid->workspace;
  uint32_t* value = lanes<uint32_t>(*this, kSpecialBank | at);
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
          return (threads + kLanes - 1) / kLanes;
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
        case Special::kWorkspaceHigh:
          return workspace >> 32;
        case Special::kWorkspaceLow:
          return static_cast<uint32_t>(workspace);
        case Special::kOne:
          return 1;
        default:
          return 0;
      }
    }();
  }
}

void Warp::set_block_specials() {
  const Program& program = block->grid->program;
  const auto set = [&](Special special, uint32_t value) {
    const auto it = program.specials.find(special);
    if (it != program.specials.end())
      std::fill_n(lanes<uint32_t>(*this, kSpecialBank | it->second), kLanes,
                  value);
  };
  set(Special::kCtaidX, block->id[0]);
  set(Special::kCtaidY, block->id[1]);
  set(Special::kCtaidZ, block->id[2]);
  set(Special::kSmId, block->number % block->grid->multiprocessors);
}

void Warp::start() {
  live_ = all_;
  waiting_.clear();
  ready_.assign(1, Path{});
  ready_[0].mask = all_;
  ready_[0].frame = entry_;
  set_block_specials();
}

bool Warp::run() {
  progress_ = false;
  while (!ready_.empty()) {
    const Path path = ready_.back();
    ready_.pop_back();
    run_path(path);
  }
  return progress_;
}

void Warp::enter(const Path& path) {
  bank[0] = path.frame->registers;
  stack_base = path.frame->stack_base;
  stack_end = stack_base + path.frame->function->stack_bytes;
}

// The lanes of `path` until they end, wait, or join others. Between events
// that concern more than their registers, all there is to know is in three
// local variables: that is where the executor spends its time.
void Warp::run_path(Path path) {
  current_ = &path;
  Observers observers = block->observers;
  enter(path);
  for (;;) {
    const Instruction* const code = path.frame->function->code.data();
    const uint32_t join =
        path.join && path.join->frame == path.frame ? path.join->pc : ~0u;
    uint32_t pc = path.pc;
    const Instruction* ins = nullptr;
    uint32_t mask = 0;
    for (;; ++pc) {
      if (pc == join) {
        path.pc = pc;
        return arrive(path);
      }
      ins = &code[pc];
      mask = path.mask;
      if (ins->guard != kNowhere) {
        const uint32_t holds = *lanes<uint32_t>(*this, ins->guard);
        mask &= ins->guard_negated ? ~holds : holds;
      }
      ++issued_;
      observers.issue(*ins, path.mask);
      if (ins->kind == Kind::kPlain) {
        if (mask) ins->run(*this, *ins, mask);
      } else if (ins->kind == Kind::kBranch && ins->target > pc &&
                 (mask == 0 || mask == path.mask)) {
        if (ins->guard != kNowhere) observers.branch(*ins, path.mask, mask);
        if (mask) pc = ins->target - 1;
      } else {
        break;
      }
    }
    path.pc = pc;
    if (!control(path, mask, *ins)) return;
  }
}

// Executes what is more than plain; returns whether `path` goes on.
bool Warp::control(Path& path, uint32_t mask, const Instruction& ins) {
  switch (ins.kind) {
    case Kind::kPlain:
      break;
    case Kind::kPoll:
      if (mask) ins.run(*this, ins, mask);
      ++path.pc;
      if (path.polls < kSpin) return true;
      path.polls = 0;
      return give_way(path);
    case Kind::kBranch: {
      const bool back = ins.target <= path.pc;
      if (ins.guard != kNowhere) block->observers.branch(ins, path.mask, mask);
      if (mask == path.mask)
        path.pc = ins.target;
      else if (mask == 0)
        ++path.pc;
      else
        diverge(path, mask, ins.target, ins.reconverge);
      if (!back || ++path.turns < kTurn) return true;
      path.turns = 0;
      return give_way_in_loop(path);
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
      if (mask) wait_at_barrier(path, mask, ins);
      if (!ins.flags) path.mask &= ~mask;  // bar.arrive goes on
      ++path.pc;
      break;
    case Kind::kCollective:
      if (mask && !collective(path, mask, ins)) return false;
      ++path.pc;
      break;
  }
  return path.mask != 0;
}

// In a loop that has gone on for long. If not even a register has changed since
// the last time, it goes on for ever, unless somebody changes what it reads.
bool Warp::give_way_in_loop(Path& path) {
  uint64_t state = path.mask;
  const auto* word = reinterpret_cast<const uint32_t*>(path.frame->registers);
  for (uint32_t k = 0; k < path.frame->function->register_bytes / 4; ++k)
    state = (state ^ word[k]) * 0x9e3779b97f4a7c15;
  path.stuck = state == path.state_hash;
  path.state_hash = state;
  progress_ |= !path.stuck;
  return give_way(path);
}

// Lets others run first.
bool Warp::give_way(Path& path) {
  path.state = Path::kSpinning;
  waiting_.push_back(path);
  return false;
}

// ---- Divergence ----------------------------------------------------------

// The join at `pc` for the lanes of `path`: the one they are bound for
// already, or a new one within it. None if they need not meet again.
Join* Warp::join_at(Path& path, uint32_t pc) {
  Join* outer = path.join;
  if (pc == ~0u) return outer;
  if (outer && outer->frame == path.frame && outer->pc == pc) return outer;
  if (free_joins_.empty()) {
    joins_.push_back(std::make_unique<Join>());
    free_joins_.push_back(joins_.back().get());
  }
  Join* join = free_joins_.back();
  free_joins_.pop_back();
  *join = {pc, path.frame, path.mask, 0, outer};
  return join;
}

// Sends the lanes of `taken` to `target`; the others go on with `path`.
void Warp::diverge(Path& path, uint32_t taken, uint32_t target,
                   uint32_t join_pc) {
  path.join = join_at(path, join_pc);
  Path other = path;
  other.mask = taken;
  other.pc = target;
  path.mask &= ~taken;
  ++path.pc;
  resume(other);
}

// Puts lanes that can go on with others at the same place, if there are any.
void Warp::resume(const Path& path) {
  if (at_join(path)) return arrive(path);
  for (Path& other : ready_) {
    if (!other.same_place(path)) continue;
    other.mask |= path.mask;
    return;
  }
  ready_.push_back(path);
  ready_.back().state = Path::kReady;
}

void Warp::arrive(const Path& path) {
  path.join->arrived |= path.mask;
  settle(path.join);
}

// Lets the lanes at a join go on once nobody is missing.
void Warp::settle(Join* join) {
  if (join->arrived != join->expected) return;
  const Join done = *join;
  free_joins_.push_back(join);
  if (done.pc == Join::kReturn) return finish_call(done);
  if (done.arrived == 0) {  // All of them left.
    if (done.parent) settle(done.parent);
    return;
  }
  Path path;
  path.mask = done.arrived;
  path.pc = done.pc;
  path.frame = done.frame;
  path.join = done.parent;
  resume(path);
}

// Nobody between these joins waits for the lanes of `mask` any more.
void Warp::leave(Join* innermost, const Join* outermost, uint32_t mask) {
  for (Join* j = innermost; j != outermost; j = j->parent) j->expected &= ~mask;
}

void Warp::exit_lanes(Path& path, uint32_t mask) {
  live_ &= ~mask;
  block->live -= bits(mask);
  progress_ = true;
  leave(path.join, nullptr, mask);
  path.mask &= ~mask;
  ++path.pc;
  if (path.mask == 0 && path.join) settle(path.join);
  if (!waiting_.empty()) complete_collectives();
  block->check_barriers();
  if (path.mask) enter(path);
}

void Warp::jump_by_table(Path& path, uint32_t mask, const Instruction& ins) {
  const uint32_t* which = lanes<uint32_t>(*this, ins.a);
  path.join = join_at(path, ins.reconverge);
  for (uint32_t rest = mask; rest;) {
    const uint32_t k = which[first_lane(rest)];
    uint32_t same = 0;
    for (uint32_t r = rest; r; r &= r - 1)
      if (which[first_lane(r)] == k) same |= r & -r;
    if (k >= ins.targets.size())
      fault(ins, first_lane(rest), "illegal instruction",
            "a jump table has no entry " + std::to_string(k), 715);
    Path other = path;
    other.mask = same;
    other.pc = ins.targets[k];
    path.mask &= ~same;
    rest &= ~same;
    resume(other);
  }
  ++path.pc;
}

// ---- Calls ---------------------------------------------------------------

Frame* Warp::new_frame(const Function& function) {
  const auto free =
      std::find_if(free_frames_.rbegin(), free_frames_.rend(),
                   [&](const Frame* f) { return f->function == &function; });
  Frame* frame = nullptr;
  if (free != free_frames_.rend()) {
    frame = *free;
    free_frames_.erase(std::next(free).base());
  } else {
    frames_.push_back(std::make_unique<Frame>());
    frame = frames_.back().get();
    frame->function = &function;
    frame->storage = std::make_unique<uint8_t[]>(function.register_bytes + 64);
    const auto at = reinterpret_cast<uintptr_t>(frame->storage.get());
    frame->registers = frame->storage.get() + (64 - at % 64) % 64;
  }
  return frame;
}

// Calls for the lanes of `mask`; the others of `path` wait behind the call.
bool Warp::call_some(Path& path, uint32_t mask, const Instruction& ins) {
  if (mask == 0) {
    ++path.pc;
    return true;
  }
  if (mask != path.mask) {
    Path rest = path;
    rest.mask &= ~mask;
    ++rest.pc;
    rest.join = path.join = join_at(path, path.pc + 1);
    path.mask = mask;
    resume(rest);
  }
  if (ins.kind == Kind::kIndirect) {
    call_indirect(path, mask, ins);
    return false;
  }
  call(path, *ins.call->callee, ins);
  return true;
}

void Warp::call(Path& path, const Function& callee, const Instruction& ins) {
  Frame* frame = new_frame(callee);
  frame->caller = path.frame;
  frame->call = &ins;
  frame->return_pc = path.pc + 1;
  frame->stack_base = stack_end;
  const uint32_t end = stack_end + callee.stack_bytes;
  if (end > kStackLimit)
    fault(ins, first_lane(path.mask), "stack overflow",
          "calls nest too deeply: " + callee.name + " needs " +
              std::to_string(end) + " bytes of local memory",
          719);
  if (stack_.size() < size_t{end} * kLanes) stack_.resize(size_t{end} * kLanes);
  for (size_t k = 0; k < callee.params.size(); ++k)
    copy_stack(path.mask, stack_base + ins.call->arguments.at(k),
               frame->stack_base + callee.params[k].offset,
               callee.params[k].bytes);
  path.frame = frame;
  path.join = join_at(path, Join::kReturn);
  frame->returned = path.join;
  path.pc = 0;
  enter(path);
}

void Warp::call_indirect(Path& path, uint32_t mask, const Instruction& ins) {
  const uint64_t* targets = lanes<uint64_t>(*this, ins.a);
  uint64_t target[kLanes];
  std::copy_n(targets, kLanes, target);
  const Path before = path;
  Join* after = join_at(path, path.pc + 1);
  const Module& module = *block->grid->program.module;
  for (uint32_t rest = mask; rest;) {
    const uint64_t address = target[first_lane(rest)];
    uint32_t same = 0;
    for (uint32_t r = rest; r; r &= r - 1)
      if (target[first_lane(r)] == address) same |= r & -r;
    rest &= ~same;
    const uint64_t number = address ^ kFunctionWindow;
    const auto& functions = block->grid->program.functions;
    const auto f = number < module.function_names.size()
                       ? functions.find(module.function_names[number])
                       : functions.end();
    if (f == functions.end())
      fault(ins, first_lane(same), "illegal address",
            "a call through a pointer that is no device function", 700);
    Path one = before;
    one.mask = same;
    one.join = after;
    enter(one);
    call(one, f->second, ins);
    ready_.push_back(one);
  }
}

void Warp::return_lanes(Path& path, uint32_t mask) {
  Join* end = path.frame->returned;
  Join* innermost = path.join;
  leave(innermost, end, mask);
  end->arrived |= mask;
  path.mask &= ~mask;
  ++path.pc;
  if (path.mask == 0) settle(innermost);
}

// All lanes of a call are back: hands over the results.
void Warp::finish_call(const Join& join) {
  Frame* frame = join.frame;
  free_frames_.push_back(frame);
  if (join.arrived == 0) {
    if (join.parent) settle(join.parent);
    return;
  }
  const Call& call = *frame->call->call;
  const auto& results = frame->function->results;
  for (size_t k = 0; k < results.size() && k < call.results.size(); ++k)
    copy_stack(join.arrived, frame->stack_base + results[k].offset,
               frame->caller->stack_base + call.results[k], results[k].bytes);
  Path path;
  path.mask = join.arrived;
  path.pc = frame->return_pc;
  path.frame = frame->caller;
  path.join = join.parent;
  resume(path);
}

void Warp::copy_stack(uint32_t mask, uint32_t from, uint32_t to,
                      uint32_t bytes) {
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const int l = first_lane(rest);
    for (uint32_t k = 0; k < bytes; ++k)
      *stack(l, to + k) = *stack(l, from + k);
  }
}

// ---- Spins ---------------------------------------------------------------

void Warp::poll(uint64_t value) {
  uint64_t& seen = current_->seen[current_->pc % 4];
  if (seen == value) {
    ++current_->polls;
    return;
  }
  seen = value;
  current_->polls = 0;
  progress_ = true;
}

bool Warp::wake() {
  bool any = false;
  for (size_t k = 0; k < waiting_.size();) {
    if (waiting_[k].state != Path::kSpinning) {
      ++k;
      continue;
    }
    const Path path = waiting_[k];
    waiting_.erase(waiting_.begin() + k);
    resume(path);
    any = true;
  }
  return any;
}

bool Warp::waits_at(uint32_t barrier) const {
  return std::any_of(waiting_.begin(), waiting_.end(), [&](const Path& p) {
    return p.state == Path::kAtBarrier && p.barrier == barrier;
  });
}

const Path* Warp::waiting(Path::State state) const {
  const auto found =
      std::find_if(waiting_.begin(), waiting_.end(),
                   [&](const Path& p) { return p.state == state; });
  return found == waiting_.end() ? nullptr : &*found;
}

bool Warp::spins() const { return waiting(Path::kSpinning) != nullptr; }

bool Warp::stuck() const {
  return std::any_of(waiting_.begin(), waiting_.end(),
                     [](const Path& p) { return p.stuck; });
}

bool Warp::release_join_waiters() {
  bool any = false;
  for (const auto& join : joins_) {
    if (join->arrived == 0 || join->pc == Join::kReturn ||
        join->arrived == join->expected)
      continue;
    Path path;
    path.mask = join->arrived;
    path.pc = join->pc;
    path.frame = join->frame;
    path.join = join->parent;
    join->expected &= ~join->arrived;
    join->arrived = 0;
    resume(path);
    any = true;
  }
  return any;
}

// ---- Barriers ------------------------------------------------------------

void Warp::wait_at_barrier(Path path, uint32_t mask, const Instruction& ins) {
  progress_ = true;
  const uint32_t number = *lanes<uint32_t>(*this, ins.a);
  if (number >= Block::kBarriers)
    fault(ins, first_lane(mask), "bad barrier",
          "there are barriers 0 to 15, not " + std::to_string(number), 719);
  block->observers.arrive(*this, ins, mask);
  Barrier& barrier = block->barriers[number];
  barrier.expected = ins.b == kNowhere ? 0 : *lanes<uint32_t>(*this, ins.b);
  if (ins.c != kNowhere) {
    uint32_t holds = *lanes<uint32_t>(*this, ins.c);
    if (ins.c_negated) holds = ~holds;
    barrier.count += bits(holds & mask);
    barrier.lanes += bits(mask);
  }
  // With a thread count, warps count as a whole: a ragged one stands for 32.
  const bool whole = barrier.expected && mask == live_;
  barrier.arrived += whole ? kLanes : bits(mask);
  if (!ins.flags) {  // not bar.arrive
    path.mask = mask;
    path.state = Path::kAtBarrier;
    path.barrier = number;
    waiting_.push_back(path);
  }
  block->check_barrier(number);
  enter(path);
}

void Warp::release(uint32_t barrier) {
  for (size_t k = 0; k < waiting_.size();) {
    if (waiting_[k].state != Path::kAtBarrier ||
        waiting_[k].barrier != barrier) {
      ++k;
      continue;
    }
    Path path = waiting_[k];
    waiting_.erase(waiting_.begin() + k);
    const Instruction& ins = path.frame->function->code[path.pc];
    enter(path);
    if (ins.run) ins.run(*this, ins, path.mask);
    ++path.pc;
    resume(path);
  }
}

// ---- Collectives ---------------------------------------------------------

namespace {

bool same_collective(const Path& p, const Path& q) {
  const Instruction& a = p.frame->function->code[p.pc];
  const Instruction& b = q.frame->function->code[q.pc];
  return a.run == b.run && a.mode == b.mode && p.members == q.members;
}

}  // namespace

// Lays out the operands of `mask` for the other members to read.
void Warp::publish(const Instruction& ins, uint32_t mask) {
  const auto copy = [&](auto* to, const auto* from) {
    if (mask == kAllLanes) {
      for (int l = 0; l < kLanes; ++l) to[l] = from[l];
      return;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1)
      to[first_lane(rest)] = from[first_lane(rest)];
  };
  if (ins.a != kNowhere && ins.size == 8)
    copy(exchange.a, lanes<uint64_t>(*this, ins.a));
  else if (ins.a != kNowhere)
    copy(exchange.a, lanes<uint32_t>(*this, ins.a));
  if (ins.b != kNowhere) copy(exchange.b, lanes<uint32_t>(*this, ins.b));
  if (ins.vote != kNowhere) {
    uint32_t holds = *lanes<uint32_t>(*this, ins.vote);
    if (ins.c_negated) holds = ~holds;
    exchange.predicate = (exchange.predicate & ~mask) | (holds & mask);
  }
  if (ins.c != kNowhere) copy(exchange.c, lanes<uint32_t>(*this, ins.c));
}

// Runs a collective if all its members are here; otherwise its lanes wait.
// Returns whether `path` goes on, with all of its lanes.
bool Warp::collective(Path& path, uint32_t mask, const Instruction& ins) {
  const uint32_t* member = lanes<uint32_t>(*this, ins.d);
  publish(ins, mask);
  const uint32_t all = member[first_lane(mask)];
  uint32_t same = 0;
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    if (member[first_lane(rest)] == all) same |= rest & -rest;
  if (same == mask && (all & live_) == mask && mask == path.mask) {
    exchange.members = mask;
    block->observers.collective(*this, ins, mask, all);
    ins.run(*this, ins, mask);
    return true;
  }
  Path rest = path;
  rest.mask &= ~mask;
  ++rest.pc;
  if (rest.mask) resume(rest);
  for (uint32_t left = mask; left;) {
    const uint32_t members = member[first_lane(left)];
    Path group = path;
    group.mask = 0;
    for (uint32_t r = left; r; r &= r - 1)
      if (member[first_lane(r)] == members) group.mask |= r & -r;
    left &= ~group.mask;
    if (const uint32_t outside = group.mask & ~members)
      fault(ins, first_lane(outside), "bad member mask",
            "the mask " + hex_mask(members) +
                " of a warp collective excludes the lane that calls it",
            719);
    group.state = Path::kAtCollective;
    group.members = members;
    waiting_.push_back(group);
  }
  progress_ = true;
  complete_collectives();
  return false;
}

// Completes every collective whose members have all come or gone.
void Warp::complete_collectives() {
  for (size_t k = 0; k < waiting_.size();) {
    const Path path = waiting_[k];
    if (path.state == Path::kAtCollective && complete_collective(path))
      k = 0;
    else
      ++k;
  }
}

bool Warp::complete_collective(const Path& one) {
  const auto with_it = [&](const Path& p) {
    return p.state == Path::kAtCollective && same_collective(p, one);
  };
  uint32_t here = 0;
  for (const Path& p : waiting_)
    if (with_it(p)) here |= p.mask;
  if ((one.members & live_) != here) return false;
  std::vector<Path> together;
  std::copy_if(waiting_.begin(), waiting_.end(), std::back_inserter(together),
               with_it);
  std::erase_if(waiting_, with_it);
  exchange.members = here;
  for (Path& p : together) {
    const Instruction& ins = p.frame->function->code[p.pc];
    enter(p);
    block->observers.collective(*this, ins, p.mask, one.members);
    ins.run(*this, ins, p.mask);
    ++p.pc;
    resume(p);
  }
  return true;
}

// ---- Messages ------------------------------------------------------------

std::string hex_mask(uint32_t mask) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", mask);
  return text;
}

std::string Warp::thread_name(int lane) const {
  const unsigned* size = block->grid->shape.block;
  const uint32_t t = index * kLanes + lane;
  return "(" + std::to_string(t % size[0]) + "," +
         std::to_string(t / size[0] % size[1]) + "," +
         std::to_string(t / size[0] / size[1]) + ")";
}

void Warp::fault(const Instruction& ins, int lane, const std::string& kind,
                 const std::string& what, int code) const {
  throw PlacedFault(code, finding(ins, lane, kind, what));
}

Finding Warp::finding(const Instruction& ins, int lane, const std::string& kind,
                      const std::string& what) const {
  const Grid& grid = *block->grid;
  Finding f;
  f.kind = kind;
  f.message = what;
  f.kernel = grid.kernel.name;
  if (ins.where.line) {
    f.file = grid.program.module->text.files.at(ins.where.file);
    f.line = ins.where.line;
  }
  const uint32_t t = index * kLanes + lane;
  const unsigned* size = grid.shape.block;
  f.block = {block->id[0], block->id[1], block->id[2]};
  f.thread = {t % size[0], t / size[0] % size[1], t / size[0] / size[1]};
  return f;
}

Finding Warp::finding(const Path& path, const std::string& kind,
                      const std::string& what) const {
  return finding(path.frame->function->code[path.pc], first_lane(path.mask),
                 kind, what);
}

void Warp::missing_source(const Instruction& ins, int lane, int source) const {
  if (!(all_ >> source & 1)) return;
  fault(ins, lane, "missing lane",
        "lane " + std::to_string(lane) + " shuffles with lane " +
            std::to_string(source) +
            (live_ >> source & 1 ? ", which the mask leaves out"
                                 : ", which has exited"),
        719);
}

// "threads (0,0,0) to (15,0,0) of warp 0 wait at the barrier at a.cu:12"
std::string Warp::describe_waiting() const {
  std::string text;
  for (const Path& p : waiting_) {
    const Instruction& ins = p.frame->function->code[p.pc];
    const int first = first_lane(p.mask), last = 31 - std::countl_zero(p.mask);
    const std::string at = block->grid->program.location(ins.where);
    text += "\n  warp " + std::to_string(index) + ": " +
            std::to_string(bits(p.mask)) + " thread(s), " + thread_name(first) +
            (first == last ? "" : " to " + thread_name(last)) + ", wait ";
    if (p.state == Path::kAtBarrier)
      text += "at the barrier";
    else if (p.state == Path::kAtCollective)
      text += "in a collective for the lanes " + hex_mask(p.members);
    else
      text += "for memory to change";
    if (!at.empty()) text += " at " + at;
    if (p.state != Path::kAtCollective) continue;
    const uint32_t missing = p.members & live_ & ~p.mask;
    if (missing) text += ", lanes " + hex_mask(missing) + " do not come";
  }
  for (const auto& join : joins_) {
    if (join->arrived == 0 || join->arrived == join->expected) continue;
    text += "\n  warp " + std::to_string(index) + ": lanes " +
            hex_mask(join->arrived) + " wait behind a branch";
    if (join->pc != Join::kReturn) {
      const auto& ins = join->frame->function->code[join->pc];
      const std::string at = block->grid->program.location(ins.where);
      if (!at.empty()) text += " at " + at;
    }
  }
  return text;
}

}  // namespace simt
