// What happens in a block, told to whoever watches. Execution calls these at
// every event; who does not watch costs one comparison.
#pragma once
#include "common/simt/core/access.h"
#include "common/simt/core/block.h"
#include "common/simt/observe/checker.h"
#include "common/simt/observe/counters.h"
#include "common/simt/observe/trace.h"

namespace simt::observe {

// A block begins.
inline void start(Block& block) {
  if (block.observers.checker) block.observers.checker->start(block);
}
// It has ended.
inline void end(Block& block) {
  if (block.observers.checker) block.observers.checker->end(block);
}
inline void issue(const Observers& o, const Instruction& ins, uint32_t active) {
  if (o.counters) o.counters->issue(ins, active);
}
// A conditional branch; `taken` of the `active` lanes jump.
inline void branch(const Observers& o, const Instruction& ins, uint32_t active,
                   uint32_t taken) {
  if (o.counters) o.counters->branch(ins, active, taken);
}
// ncu does not count an atomic by a generic address among those of shared
// memory, unless a loop has to make it there, of instructions that say so.
inline bool is_counted(const Instruction& ins, const Access& access) {
  return access.use != Use::kAtomic || access.space != Space::kShared ||
         access.operand.space == Space::kShared ||
         !ins.statement->type().is_integer();
}
// A load, store or atomic in global or shared memory, about to be done.
inline void access(Warp& warp, const Instruction& ins, const Access& access) {
  const Observers& o = warp.block->observers;
  if (o.counters && is_counted(ins, access)) o.counters->access(ins, access);
  if (o.checker) o.checker->access(warp, ins, access);
  if (o.trace) o.trace->access(warp, ins, access);
}
// The same in a thread's own memory, or where nobody writes.
inline void private_access(Warp& warp, const Instruction& ins,
                           const Access& access) {
  const Observers& o = warp.block->observers;
  if (o.counters && access.space == Space::kParam)
    o.counters->parameters(ins, access);
  if (o.checker) o.checker->private_access(warp, ins, access);
}
// A lane prints by a conversion that is none on a GPU.
inline void unknown_conversion(Warp& warp, const Instruction& ins, int lane,
                               const std::string& conversion) {
  if (Checker* checker = warp.block->observers.checker)
    checker->unknown_conversion(warp, ins, lane, conversion);
}
// printf takes an argument that it was not given, from local memory.
inline void not_given(Warp& warp, const Instruction& ins, int lane,
                      uint64_t address, uint32_t bytes) {
  if (Checker* checker = warp.block->observers.checker)
    checker->values().tell_not_given(warp, ins, lane, address, bytes);
}
// A texture is about to be read, somewhere.
inline void texture(Warp& warp, const Texture& texture) {
  if (Checker* checker = warp.block->observers.checker)
    checker->texture(texture);
}
// A lane reads a texel of it; or writes one, by a surface.
inline void texel(Warp& warp, const Instruction& ins, int lane,
                  uint64_t address, uint32_t bytes,
                  const uint8_t* written = nullptr) {
  if (Checker* checker = warp.block->observers.checker)
    checker->texel(warp, ins, lane, address, bytes, written);
}
// Lanes overwrite global memory with nobody knows what. It moves nothing.
inline void discard(Warp& warp, const Instruction& ins, const Access& access) {
  Checker* const checker = warp.block->observers.checker;
  if (!checker) return;
  checker->access(warp, ins, access);
  checker->values().discard(access);
}
// Lanes begin to copy; and some of their copies are about to be made.
inline void copies(const AsyncCopy& copy) {
  const Observers& o = copy.warp->block->observers;
  if (o.counters) o.counters->copy(copy);
  if (o.checker) o.checker->begin(copy);
  if (!o.trace || copy.is_bulk()) return;
  if (copy.from) o.trace->access(*copy.warp, *copy.ins, *copy.from);
  o.trace->access(*copy.warp, *copy.ins, copy.to);
}
// The source of a bulk copy has been read, and may change.
inline void taken(const AsyncCopy& copy) {
  if (Checker* checker = copy.warp->block->observers.checker)
    checker->take(copy);
}
// The block ends, and the copy has not even been read.
inline void abandoned(const AsyncCopy& copy) {
  if (Checker* checker = copy.warp->block->observers.checker)
    checker->abandon(copy);
}
inline void copied(const AsyncCopy& copy, uint32_t mask) {
  if (Checker* checker = copy.warp->block->observers.checker)
    checker->end(copy, mask);
}
// A warp begins to multiply; and has waited for so many groups.
inline void multiplies(const AsyncProduct& product) {
  if (Checker* checker = product.warp->block->observers.checker)
    checker->begin(product);
}
inline void multiplied(Warp& warp, uint32_t groups) {
  if (Checker* checker = warp.block->observers.checker)
    checker->values().land(warp, groups);
}
// A warp has waited for one of these. Is it of interest, from then on?
inline bool waited(AsyncProduct& product, const Warp& warp) {
  Checker* checker = warp.block->observers.checker;
  return checker && checker->waited(product, warp);
}
// Lanes are about to do something at barriers in shared memory; barriers there
// are given up.
inline void mbarrier(Warp& warp, const Instruction& ins, const Access& access) {
  if (Checker* checker = warp.block->observers.checker)
    checker->mbarrier(warp, ins, access);
}
inline void forget(Warp& warp, const Access& access) {
  if (Checker* checker = warp.block->observers.checker)
    checker->values().forget(warp, access);
}
// A lane arrives there, its phase completes, and lanes find that.
inline void hand_over(Warp& warp, const Access& barriers, int lane) {
  if (Checker* checker = warp.block->observers.checker)
    checker->hand_over(warp, barriers, lane);
}
inline void complete(Block& block, uint64_t barrier) {
  if (block.checks) block.checks->order.complete(barrier);
}
inline void take_over(Warp& warp, const Access& barriers, uint32_t mask) {
  if (!warp.block->checks) return;
  while (mask) {
    const uint64_t one = barriers.address[first_lane(mask)];
    const uint32_t there = lanes_with(one, barriers.address, mask);
    warp.block->checks->order.take_over(one, warp.index, there);
    mask &= ~there;
  }
}
// Lanes of `mask` are at an instruction, and some of their warp's registers are
// undefined, or hold what nobody has waited for.
inline void follow(Warp& warp, const Instruction& ins, uint32_t mask) {
  Checker& checker = *warp.block->observers.checker;
  checker.follow(warp, ins, mask);
  checker.values().follow(warp, ins, mask);
}
inline void fence(Warp& warp, const Instruction& ins, uint32_t mask) {
  if (Counters* counters = warp.block->observers.counters) counters->fence(ins);
  if (Checker* checker = warp.block->observers.checker)
    checker->fence(warp, ins, mask);
}
// The same for what bulk copies read.
inline void fence_for_copies(Warp& warp) {
  if (Checker* checker = warp.block->observers.checker)
    checker->fence_for_copies(warp);
}
// The same for mbarriers that have been set up.
inline void fence_inits(Warp& warp) {
  if (Checker* checker = warp.block->observers.checker)
    checker->fence_inits(warp);
}
// Lanes have waited for the kernel in front of this one; they let the next one
// begin.
inline void wait_for_front(Warp& warp, uint32_t mask) {
  if (Checker* checker = warp.block->observers.checker)
    checker->wait_for_front(warp, mask);
}
inline void let_next_begin(Warp& warp, uint32_t mask) {
  if (Checker* checker = warp.block->observers.checker)
    checker->let_next_begin(warp, mask);
}
// Lanes of a warp meet in a collective that names `members`; lanes of `mask`
// came by this instruction.
inline void collective(Warp& warp, const Instruction& ins, uint32_t mask,
                       uint32_t members) {
  const Observers& o = warp.block->observers;
  if (o.checker) o.checker->collective(warp, ins, mask, members);
  if (o.trace) o.trace->collective(warp, ins, mask);
  if (warp.tainted) o.checker->values().collective(warp, ins, mask);
}
// After it: a lane that takes no part has handed nothing over.
inline void shuffled(Warp& warp, const Instruction& ins, uint32_t mask) {
  Checker* checker = warp.block->observers.checker;
  if (checker && warp.exchange.unanswered && !warp.tainted)
    checker->values().collective(warp, ins, mask);
}
// Before that: they lay out their operands.
inline void publish(Warp& warp, const Instruction& ins, uint32_t mask) {
  if (warp.tainted)
    warp.block->observers.checker->values().publish(warp, ins, mask);
}
// Lanes have divided an integer by zero.
inline void divided_by_zero(Warp& warp, const Instruction& ins, uint32_t mask) {
  if (Checker* checker = warp.block->observers.checker)
    checker->values().divided_by_zero(warp, ins, mask);
}
// A kernel or a function begins, with these registers.
inline void begin_frame(Warp& warp, const uint8_t* registers,
                        uint32_t stack_base, const Function& function,
                        uint32_t mask) {
  if (function.unwritten.empty() && function.not_followed.empty()) return;
  if (Checker* checker = warp.block->observers.checker)
    checker->values().begin_frame(warp, registers, stack_base, function, mask);
}
// A call begins, with the stacks from `begin` to `end`; and it ends.
inline void call(Warp& warp, uint32_t mask, uint32_t begin, uint32_t end) {
  if (Checker* checker = warp.block->observers.checker)
    checker->values().call(warp, mask, begin, end);
}
inline void end_call(Warp& warp, const uint8_t* registers, uint32_t bytes) {
  if (warp.tainted)
    warp.block->observers.checker->values().end_call(warp, registers, bytes);
}
// Arguments or results were copied within the stacks.
inline void copy_stack(Warp& warp, uint32_t mask, uint32_t from, uint32_t to,
                       uint32_t bytes) {
  if (Checker* checker = warp.block->observers.checker)
    checker->values().copy_stack(warp, mask, from, to, bytes);
}
// A call that the system answers has read at a generic address, or written at
// an offset in the lane's stack.
inline void system_read(Warp& warp, const Instruction& ins, int lane,
                        uint64_t address, uint32_t bytes) {
  if (Checker* checker = warp.block->observers.checker)
    checker->values().read(warp, ins, lane, address, bytes);
}
inline void system_write(Warp& warp, int lane, uint32_t offset,
                         uint32_t bytes) {
  if (Checker* checker = warp.block->observers.checker)
    checker->values().write(warp, lane, offset, bytes);
}
// The same in the block's shared memory.
inline void system_write_shared(Block& block, uint64_t offset, uint32_t bytes) {
  if (block.checks) block.checks->written.insert(offset, offset + bytes);
}
// A lane launches another grid.
inline Moment launches(Warp& warp, int lane) {
  Checker* checker = warp.block->observers.checker;
  return checker ? checker->moment(warp, lane) : Moment{};
}
// Lanes of a warp have come to a barrier of the block.
inline void arrive(Warp& warp, const Instruction& ins, uint32_t mask,
                   uint32_t barrier) {
  const Observers& o = warp.block->observers;
  if (o.counters) o.counters->barrier(ins);
  if (o.checker) o.checker->arrive(warp, ins, mask, barrier);
}
// The same, and they hand over what they have fenced.
inline void arrive_relaxed(Warp& warp, const Instruction& ins,
                           uint32_t barrier) {
  const Observers& o = warp.block->observers;
  if (o.counters) o.counters->barrier(ins);
  if (o.checker) o.checker->arrive_relaxed(warp, barrier);
}
// A warp goes on from a barrier that has been open for a while.
inline void pass(Warp& warp, uint32_t barrier) {
  if (Checker* checker = warp.block->observers.checker)
    checker->pass(warp, barrier);
}
// The barrier opens; `counted`: for a number of threads that was named. The
// lanes `waiting` go on.
inline void release(Block& block, uint32_t barrier, bool counted,
                    const LanesByWarp& waiting) {
  const Observers& o = block.observers;
  if (o.checker) o.checker->release(block, barrier, counted, waiting);
  if (o.trace) o.trace->release(block);
}

}  // namespace simt::observe
