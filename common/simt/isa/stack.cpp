// Local memory that a thread asks for while it runs: alloca, and its kin.
#include "common/simt/isa/stack.h"

#include <bit>
#include <string>

#include "common/simt/core/finding.h"
#include "common/simt/core/lanes.h"
#include "common/simt/core/literals.h"
#include "common/simt/observe/observers.h"

namespace simt {
namespace {

constexpr uint64_t align_up(uint64_t n, uint64_t to) {
  return (n + to - 1) / to * to;
}

[[noreturn]] void overflow(Warp& warp, const Instruction& ins, int lane,
                           uint64_t bytes) {
  fault(warp, ins, lane, "stack overflow",
        "alloca asks for " + std::to_string(bytes) + " bytes on top of " +
            std::to_string(warp.stack_tops->of[lane]) +
            " that are in use; a thread has " + std::to_string(kStackLimit) +
            " bytes of local memory",
        kLaunchFailure);
}

// The stacks are as deep as the deepest; `begin` to `end` of a lane's is new.
void grow(Warp& warp, int lane, uint32_t begin, uint32_t end) {
  warp.stack_end = std::max(warp.stack_end, end);
  if (warp.stacks.size() < size_t{warp.stack_end} * kLanes)
    warp.stacks.resize(size_t{warp.stack_end} * kLanes);
  observe::call(warp, 1u << lane, begin, end);
}

template <class T>
void allocate(Warp& warp, const Instruction& ins, uint32_t mask) {
  const T* bytes = lanes<T>(warp, ins.source(0));
  const uint32_t* alignment = lanes<uint32_t>(warp, ins.source(1));
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const int l = first_lane(rest);
    uint32_t& top = warp.stack_tops->of[l];
    const uint64_t begin = align_up(top, alignment[l]);
    if (!is_inside(begin, bytes[l], 0, kStackLimit))
      overflow(warp, ins, l, bytes[l]);
    const uint64_t end = align_up(begin + bytes[l], StackTops::kAlignment);
    lanes<T>(warp, ins.result(0))[l] = static_cast<T>(begin);
    top = static_cast<uint32_t>(end);
    grow(warp, l, static_cast<uint32_t>(begin), top);
  }
}

template <class T>
void save(Warp& warp, const Instruction& ins, uint32_t mask) {
  map_indices(mask, lanes<T>(warp, ins.result(0)),
              [&](int l) { return T{warp.stack_tops->of[l]}; });
}

template <class T>
void restore(Warp& warp, const Instruction& ins, uint32_t mask) {
  const T* saved = lanes<T>(warp, ins.source(0));
  StackTops& tops = *warp.stack_tops;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const int l = first_lane(rest);
    if (saved[l] < tops.begin || saved[l] > tops.of[l] ||
        saved[l] % StackTops::kAlignment)
      fault(
          warp, ins, l, "bad stack",
          "stackrestore takes what stacksave gave in the same call, and not " +
              std::to_string(saved[l]),
          kLaunchFailure);
    tops.of[l] = static_cast<uint32_t>(saved[l]);
  }
  warp.stack_end = tops.end();
}

void decode_alloca(const Statement& s, OperandReader& operands, Draft& ins) {
  uint64_t alignment = StackTops::kAlignment;
  if (s.operands.size() > 2) {
    const uint64_t wanted = parse_literal(s.operands[2].text).value().bits;
    if (!std::has_single_bit(wanted) || wanted > kStackLimit)
      throw Error("an alignment of " + s.operands[2].text +
                  " is no power of two, or too large");
    alignment = std::max(alignment, wanted);
  }
  const int width = s.type().bytes;
  ins.written = {operands.destination(s.operands.at(0))};
  ins.read = {operands.source(s.operands.at(1), width),
              operands.source(named(std::to_string(alignment)), 4)};
  ins.run = width == 8 ? allocate<uint64_t> : allocate<uint32_t>;
}

}  // namespace

bool decode_stack(const Statement& s, OperandReader& operands, Draft& ins) {
  const bool wide = s.type().bytes == 8;
  if (s.name() == "alloca") {
    decode_alloca(s, operands, ins);
  } else if (s.name() == "stacksave") {
    ins.written = {operands.destination(s.operands.at(0))};
    ins.run = wide ? save<uint64_t> : save<uint32_t>;
  } else if (s.name() == "stackrestore") {
    ins.read = {operands.source(s.operands.at(0), s.type().bytes)};
    ins.run = wide ? restore<uint64_t> : restore<uint32_t>;
  } else {
    return false;
  }
  return true;
}

}  // namespace simt
