// Undefined values on the stack: variables of a function, arguments, and what
// a call that the system answers reads and writes.
#include <algorithm>

#include "common/simt/observe/tainted.h"
#include "common/simt/observe/values.h"
#include "common/simt/observe/written_memory.h"

namespace simt {

// A struct may be copied before all of its members have a value: such a
// register is stored like a part of what one line has loaded.
void Values::begin_frame(Warp& warp, const uint8_t* registers,
                         uint32_t stack_base, const Function& function,
                         uint32_t mask) {
  if (!function.not_followed.empty()) values_of(warp).grow(warp.stacks.size());
  for (const Function::Slot& slot : function.not_followed)
    for (uint32_t k = 0; k < slot.bytes; ++k)
      for (uint32_t rest = mask; rest; rest &= rest - 1)
        write(warp, first_lane(rest), stack_base + slot.offset + k, 1);
  for (const Function::Unwritten& one : function.unwritten) {
    if (!one.followed) continue;
    Undefined value;
    value.place = one.place;
    value.width = one.width;
    Origin origin;
    origin.site = function.code[one.reader].site;
    origin.moved = one.width;
    origin.space = Space::kLocal;
    origin.part = origin.variable = true;
    const uint64_t bits =
        one.width ? kAllBits >> (64 - 8 * std::min<int>(one.width, 8)) : 1;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
      const int l = first_lane(rest);
      origin.thread = static_cast<uint16_t>(warp.index * kLanes + l);
      value.add(l, bits, origin);
    }
    values_of(warp).calls[registers].set(value);
    warp.tainted = true;
  }
}

void Values::call(Warp& warp, uint32_t mask, uint32_t begin, uint32_t end) {
  WarpValues& values = values_of(warp);
  values.grow(warp.stacks.size());
  const auto offset = [&](int lane, uint32_t at) -> uint64_t {
    return warp.stack(lane, at) - warp.stack(0, 0);
  };
  for (uint32_t row = begin; row < end; row += 16)
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
      const uint64_t at = offset(first_lane(rest), row);
      values.stack.erase(at, at + 16);
      if (!values.stack_copies.empty()) values.stack_copies.erase(at, at + 16);
    }
}

void Values::end_call(Warp& warp, const uint8_t* registers, uint32_t bytes) {
  WarpValues& values = values_of(warp);
  values.calls.erase(registers);
  values.in_flight.erase(values.in_flight.lower_bound(registers),
                         values.in_flight.lower_bound(registers + bytes));
  settle(warp);
}

void Values::copy_stack(Warp& warp, uint32_t mask, uint32_t from, uint32_t to,
                        uint32_t bytes) {
  WarpValues& values = values_of(warp);
  const uint8_t* const base = warp.stack(0, 0);
  const auto copy = [&](uint64_t source, uint64_t target) {
    if (values.stack.contains(source))
      return void(values.stack.insert(target, target + 1));
    values.stack.erase(target, target + 1);
    if (const Copied* copied = values.stack_copies.find(source)) {
      const Copied byte = *copied;  // It may move when another is set.
      values.stack_copies.set(target, byte);
    }
  };
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const int l = first_lane(rest);
    for (uint32_t k = 0, together = 0; k < bytes; k += together) {
      together =
          std::min({bytes - k, 16 - (from + k) % 16, 16 - (to + k) % 16});
      const uint64_t source = warp.stack(l, from + k) - base;
      const uint64_t target = warp.stack(l, to + k) - base;
      if (values.stack.contains(source, source + together))
        values.stack.insert(target, target + together);
      else
        for (uint32_t j = 0; j < together; ++j) copy(source + j, target + j);
    }
  }
}

void Values::read(Warp& warp, const Instruction& ins, int lane,
                  uint64_t address, uint32_t bytes) {
  const bool prints = ins.statement->text.find("vprintf") != std::string::npos;
  const char* const matters =
      prints ? "It is printed" : "It is an argument of the call";
  const uint64_t plain = address & ~kWindowMask;
  const auto look = [&](const auto& memory, uint64_t at, Space space) {
    for (uint32_t k = 0; k < bytes; ++k) {
      if (memory.is_written(at + k, 1)) continue;
      if (const Copied* copied = memory.copied(at + k))
        return tell(warp, ins, lane, copied->origin, matters);
      // Text is read byte by byte, and what is printed with it is not.
      if (prints && bytes > 1)
        return tell_not_given(warp, ins, lane, plain, bytes);
      return tell_unwritten(warp, ins, lane, space, plain, "read", bytes,
                            matters);
    }
  };
  const uint64_t window = address & kWindowMask;
  if (window == kSharedWindow)
    look(shared_memory(*warp.block->checks), plain, Space::kShared);
  else if (window == kLocalWindow)
    look(stacks_of(values_of(warp)), warp.stack(lane, plain) - warp.stack(0, 0),
         Space::kLocal);
  else if (allocations().in_arena(address))
    look(device_memory(allocations()), address, Space::kGlobal);
}

void Values::tell_not_given(Warp& warp, const Instruction& ins, int lane,
                            uint64_t address, uint32_t bytes) {
  tell_unwritten(warp, ins, lane, Space::kLocal, address, "read", bytes,
                 "It is printed: printf wants more than it was given. Each "
                 "conversion needs an argument of its own size: %d an int, "
                 "%lld a long long, %f a double");
}

void Values::write(Warp& warp, int lane, uint32_t offset, uint32_t bytes) {
  const uint64_t at = warp.stack(lane, offset) - warp.stack(0, 0);
  values_of(warp).stack.insert(at, at + bytes);
}

}  // namespace simt
