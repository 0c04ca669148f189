// Calls of device functions: each has a frame of its own, and a join at which
// its lanes wait for one another before they return.
#include <algorithm>
#include <cstring>

#include "common/simt/core/lanes.h"
#include "common/simt/core/names.h"
#include "common/simt/machine/block_run.h"
#include "common/simt/observe/observers.h"

namespace simt {
Frame* WarpRun::new_frame(const Function& function, uint32_t stack_base,
                          uint32_t mask) {
  auto& unused = home_.free_frames;
  const auto free =
      std::find_if(unused.rbegin(), unused.rend(),
                   [&](const Frame* f) { return f->function == &function; });
  Frame* frame = nullptr;
  if (free != unused.rend()) {
    frame = *free;
    unused.erase(std::next(free).base());
  } else {
    home_.frames.push_back(std::make_unique<Frame>());
    frame = home_.frames.back().get();
    frame->function = &function;
    const AlignedBytes& fixed = block->grid->fixed;
    const size_t bytes = fixed.size() + function.register_bytes + 64;
    // Many registers of a large kernel are never touched.
    frame->storage = std::make_unique_for_overwrite<uint8_t[]>(bytes);
    const auto at = reinterpret_cast<uintptr_t>(frame->storage.get());
    uint8_t* const begin = frame->storage.get() + (64 - at % 64) % 64;
    frame->registers = begin + fixed.size();
    std::copy_n(fixed.data(), fixed.size(), begin);
  }
  frame->stack_base = stack_base;
  // What it allocates lies behind all else.
  const uint64_t end =
      function.allocates ? kStackLimit : stack_base + function.variables_end;
  frame->variables = {stack_base + function.variables_begin,
                      static_cast<uint32_t>(end),
                      nullptr,
                      {}};
  frame->stack_tops.reset();
  if (function.allocates)
    frame->stack_tops.emplace(stack_base + function.stack_bytes);
  for (const Function::Unwritten& u : function.unwritten)
    std::memset(frame->registers + u.place, 0,
                u.width ? u.width * kLanes : sizeof(uint32_t));
  for (const auto& [place, bits] : function.begin_as)
    spread_value(frame->registers + place, function.widths.at(place), bits);
  observe::begin_frame(*this, frame->registers, stack_base, function, mask);
  set_specials(*frame);
  return frame;
}

// Calls for the lanes of `mask`; the others of `path` wait behind the call.
bool WarpRun::call_some(Path& path, uint32_t mask, const Instruction& ins) {
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

void WarpRun::call(Path& path, const Function& callee, const Instruction& ins) {
  const uint32_t begin = stack_end, end = begin + callee.stack_bytes;
  if (end > kStackLimit)
    fault(*this, ins, first_lane(path.mask), "stack overflow",
          "calls nest too deeply: with one more of " +
              function_name(callee.name) + " they need " + std::to_string(end) +
              " bytes of local memory, and a thread has " +
              std::to_string(kStackLimit) + ". Does the recursion end?",
          kLaunchFailure);
  if (stacks.size() < size_t{end} * kLanes) stacks.resize(size_t{end} * kLanes);
  observe::call(*this, path.mask, begin, end);
  Frame* frame = new_frame(callee, begin, path.mask);
  frame->caller = path.frame;
  frame->variables.caller = &path.frame->variables;
  frame->variables.called_at =
      ins.where.line ? ins.where : path.frame->variables.called_at;
  frame->call = &ins;
  frame->return_pc = path.pc + 1;
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

void WarpRun::call_indirect(Path& path, uint32_t mask, const Instruction& ins) {
  const uint64_t* targets = lanes<uint64_t>(*this, ins.source(0));
  uint64_t target[kLanes];
  std::copy_n(targets, kLanes, target);
  const Path before = path;
  Join* after = join_at(path, path.pc + 1);
  const Module& module = *block->grid->program.module;
  for (uint32_t rest = mask; rest;) {
    const uint64_t address = target[first_lane(rest)];
    const uint32_t same = lanes_with(address, target, rest);
    rest &= ~same;
    const auto& functions = block->grid->program.functions;
    const std::string* name = module.function_at(address);
    const auto f = name ? functions.find(*name) : functions.end();
    if (f == functions.end())
      fault(*this, ins, first_lane(same), "illegal address",
            "a call through a pointer that is no device function",
            kIllegalAddress);
    Path one = before;
    one.mask = same;
    one.join = after;
    enter(one);
    call(one, f->second, ins);
    ready_.push_back(one);
  }
}

void WarpRun::return_lanes(Path& path, uint32_t mask) {
  Join* end = path.frame->returned;
  Join* innermost = path.join;
  leave(innermost, end, mask);
  end->arrived |= mask;
  path.mask &= ~mask;
  ++path.pc;
  if (path.mask == 0) settle(innermost);
}

// Gives the results of a call to the caller's lanes of `mask`.
void WarpRun::hand_back(const Frame& frame, uint32_t mask) {
  const Call& call = *frame.call->call;
  const auto& results = frame.function->results;
  for (size_t k = 0; k < results.size() && k < call.results.size(); ++k)
    copy_stack(mask, frame.stack_base + results[k].offset,
               frame.caller->stack_base + call.results[k], results[k].bytes);
}

void WarpRun::copy_stack(uint32_t mask, uint32_t from, uint32_t to,
                         uint32_t bytes) {
  observe::copy_stack(*this, mask, from, to, bytes);
  // A lane has 16 bytes beside each other, and then comes the next lane.
  for (uint32_t k = 0, together = 0; k < bytes; k += together) {
    together = std::min({bytes - k, 16 - (from + k) % 16, 16 - (to + k) % 16});
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
      const int l = first_lane(rest);
      std::memcpy(stack(l, to + k), stack(l, from + k), together);
    }
  }
}

}  // namespace simt
