// Fences, and what hints at memory, or waits, without touching it.
#include <atomic>

#include "common/simt/core/access.h"
#include "common/simt/core/lanes.h"
#include "common/simt/core/literals.h"
#include "common/simt/isa/memory/memory.h"
#include "common/simt/isa/memory/places.h"
#include "common/simt/observe/observers.h"

namespace simt {
namespace {

constexpr uint32_t kDiscarded = 128;  // a cache line: what discard takes

// For the threads of the host; for the checker, which must know that it was
// there; and a wait may consist of it, with a load that reads anew behind it.
void fence(Warp& warp, const Instruction& ins, uint32_t mask) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  observe::fence(warp, ins, mask);
  warp.poll.found(0);
}

void fence_for_copies(Warp& warp, const Instruction&, uint32_t) {
  observe::fence_for_copies(warp);
}

void fence_inits(Warp& warp, const Instruction&, uint32_t) {
  observe::fence_inits(warp);
}

// Kernels run one after the other, so that there is nothing to wait for.
void wait_for_front(Warp& warp, const Instruction&, uint32_t mask) {
  observe::wait_for_front(warp, mask);
}

void let_next_begin(Warp& warp, const Instruction&, uint32_t mask) {
  observe::let_next_begin(warp, mask);
}

void sleep(Warp& warp, const Instruction&, uint32_t) { warp.poll.slept = true; }

void nothing(Warp&, const Instruction&, uint32_t) {}

// What programs hand on, and nobody looks into: the same for all of them.
void create_policy(Warp& warp, const Instruction& ins, uint32_t mask) {
  constexpr uint64_t kPolicy = 1ull << 60;
  map_indices(mask, lanes<uint64_t>(warp, ins.result(0)),
              [](int) { return kPolicy; });
}

// A write of nobody knows what (PTX ISA, "discard").
void discard(Warp& warp, const Instruction& ins, uint32_t mask) {
  for (Access a(ins.address(), kDiscarded, Use::kStore); mask;
       mask &= ~a.mask) {
    find_places(warp, ins, mask, kDiscarded, a);
    observe::discard(warp, ins, a);
  }
}

void decode_discard(const Statement& s, Draft& ins) {
  if (parse_literal(s.operands.at(1).text).value().bits != kDiscarded)
    throw Error("it discards " + std::to_string(kDiscarded) + " bytes");
  ins.accessed.at(0).space = Space::kGlobal;
  ins.spread = Spread::kAccess;
  ins.run = discard;
}

void decode_policy(const Statement& s, OperandReader& operands, Draft& ins) {
  ins.written = {operands.destination(s.operands.at(0))};
  ins.accessed.clear();  // The memory it is for stays untouched.
  ins.pure = true;
  ins.run = create_policy;
}

// Of the proxies' fences only the asynchronous one does something: for tensor
// maps nothing waits, each copy reads its own as it is; and an alias is the
// same memory here at once.
void decode_plain_fence(const Statement& s, Draft& ins) {
  if (s.has("proxy")) {
    ins.run = s.has("async") ? fence_for_copies : nothing;
  } else if (s.has("mbarrier_init")) {
    ins.run = fence_inits;
  } else {
    decode_scope(s, ins);
    ins.kind = Kind::kPoll;
    ins.run = fence;
  }
}

}  // namespace

bool decode_fence(const Statement& s, OperandReader& operands, Draft& ins) {
  const std::string& op = s.name();
  if (op == "fence" || op == "membar") {
    decode_plain_fence(s, ins);
  } else if (op == "nanosleep") {
    ins.kind = Kind::kPoll;
    ins.run = sleep;
  } else if (op == "griddepcontrol") {
    ins.run = s.has("wait") ? wait_for_front : let_next_begin;
  } else if (op == "prefetch" || op == "prefetchu" || op == "applypriority" ||
             op == "pmevent") {
    ins.run = nothing;  // Hints, and what profilers watch.
  } else if (op == "createpolicy") {
    decode_policy(s, operands, ins);
  } else if (op == "discard") {
    decode_discard(s, ins);
  } else {
    return false;
  }
  return true;
}

}  // namespace simt
