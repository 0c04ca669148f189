// Shuffles, votes, matches, reductions, barriers: handlers and decoding.
#include "common/simt/isa/collectives.h"

#include <algorithm>
#include <functional>

#include "common/simt/core/block.h"
#include "common/simt/core/finding.h"
#include "common/simt/core/lanes.h"

namespace simt {
namespace {

void set_all(Warp& warp, Place place, uint32_t mask, uint32_t value) {
  if (place == kNowhere) return;
  uint32_t* to = lanes<uint32_t>(warp, place);
  for (int l = 0; l < kLanes; ++l)
    if (mask >> l & 1) to[l] = value;
}

// ---- shfl ----------------------------------------------------------------

enum Shuffle : uint8_t { kUp, kDown, kButterfly, kIndex };

// PTX ISA, "shfl.sync": c holds a clamp in bits 0-4 and a mask that divides
// the warp into segments in bits 8-12. What comes from a lane that takes no
// part is undefined; many a warp's idle lanes ask for it, and drop it.
template <Shuffle how>
void shuffle(Warp& warp, const Instruction& ins, uint32_t mask) {
  const Exchange& in = warp.exchange;
  uint32_t* to = lanes<uint32_t>(warp, ins.result(0));
  uint32_t valid = 0, unanswered = 0;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const int b = in.b[lane] & 31, clamp = in.c[lane] & 31;
    const int segment = in.c[lane] >> 8 & 31;
    const int most = (lane & segment) | (clamp & ~segment & 31);
    const int least = lane & segment;
    int from = 0;
    bool in_range = false;
    if constexpr (how == kUp) {
      from = lane - b;
      in_range = from >= most;
    } else {
      from = how == kDown        ? lane + b
             : how == kButterfly ? lane ^ b
                                 : least | (b & ~segment & 31);
      in_range = from <= most;
    }
    if (!in_range) from = lane;
    valid |= uint32_t{in_range} << lane;
    unanswered |= (~in.members >> from & 1) << lane;
    to[lane] = static_cast<uint32_t>(in.a[from]);
  }
  warp.exchange.unanswered = unanswered;
  write_predicate(warp, ins.result(1), valid, mask);
}

// ---- vote, match, redux --------------------------------------------------

enum Vote : uint8_t { kBallot, kAll, kAny, kUniform };

template <Vote how>
void vote(Warp& warp, const Instruction& ins, uint32_t mask) {
  const uint32_t members = warp.exchange.members;
  const uint32_t yes = warp.exchange.predicate & members;
  if constexpr (how == kBallot) return set_all(warp, ins.result(0), mask, yes);
  const bool answer = how == kAll   ? yes == members
                      : how == kAny ? yes != 0
                                    : yes == 0 || yes == members;
  write_predicate(warp, ins.result(0), answer ? kAllLanes : 0, mask);
}

// The members whose value is that of `lane`.
uint32_t same_value(const Warp& warp, int lane) {
  const Exchange& in = warp.exchange;
  return lanes_with(in.a[lane], in.a, in.members);
}

void match_any(Warp& warp, const Instruction& ins, uint32_t mask) {
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    lanes<uint32_t>(warp, ins.result(0))[first_lane(rest)] =
        same_value(warp, first_lane(rest));
}

void match_all(Warp& warp, const Instruction& ins, uint32_t mask) {
  const uint32_t members = warp.exchange.members;
  const bool all = same_value(warp, first_lane(members)) == members;
  set_all(warp, ins.result(0), mask, all ? members : 0);
  write_predicate(warp, ins.result(1), all ? kAllLanes : 0, mask);
}

template <class T, class Op>
void reduce(Warp& warp, const Instruction& ins, uint32_t mask) {
  const auto value = [&](uint32_t members) {
    return static_cast<T>(warp.exchange.a[first_lane(members)]);
  };
  uint32_t rest = warp.exchange.members;
  T sum = value(rest);
  while (rest &= rest - 1) sum = Op{}(sum, value(rest));
  set_all(warp, ins.result(0), mask, static_cast<uint32_t>(sum));
}

struct Lesser {
  template <class T>
  T operator()(T a, T b) const {
    return std::min(a, b);
  }
};

struct Greater {
  template <class T>
  T operator()(T a, T b) const {
    return std::max(a, b);
  }
};

Handler reduction(const Statement& s) {
  const bool with_sign = s.type().is_signed();
  if (s.has("min"))
    return with_sign ? reduce<int32_t, Lesser> : reduce<uint32_t, Lesser>;
  if (s.has("max"))
    return with_sign ? reduce<int32_t, Greater> : reduce<uint32_t, Greater>;
  if (s.has("add")) return reduce<uint32_t, std::plus<>>;
  if (s.has("and")) return reduce<uint32_t, std::bit_and<>>;
  return s.has("or") ? reduce<uint32_t, std::bit_or<>>
                     : reduce<uint32_t, std::bit_xor<>>;
}

void nothing(Warp&, const Instruction&, uint32_t) {}

void active_mask(Warp& warp, const Instruction& ins, uint32_t mask) {
  set_all(warp, ins.result(0), mask, mask);
}

void elect(Warp& warp, const Instruction& ins, uint32_t mask) {
  const int leader = first_lane(warp.exchange.members);
  set_all(warp, ins.result(0), mask, leader);
  write_predicate(warp, ins.result(1), 1u << leader, mask);
}

// ---- bar.red -------------------------------------------------------------

void count_result(Warp& warp, const Instruction& ins, uint32_t mask) {
  set_all(warp, ins.result(0), mask, warp.block->results_count);
}
template <bool all>
void vote_result(Warp& warp, const Instruction& ins, uint32_t mask) {
  const Block& block = *warp.block;
  const bool yes = all ? block.results_count == block.results_lanes
                       : block.results_count > 0;
  write_predicate(warp, ins.result(0), yes ? kAllLanes : 0, mask);
}

// Or a breakpoint, where no debugger is there.
void trap(Warp& warp, const Instruction& ins, uint32_t mask) {
  const bool waits_for_grid =
      ins.where.of_groups && !warp.block->grid->shape.cooperative;
  const char* const what =
      ins.statement->name() == "brkpt"
          ? "the kernel came to a breakpoint, and no debugger is there"
      : waits_for_grid ? "blocks can wait for one another only in a kernel "
                         "that cudaLaunchCooperativeKernel has launched"
                       : "the kernel executed a trap";
  fault(warp, ins, first_lane(mask), "trap", what, kLaunchFailure);
}

// ---- Decoding ------------------------------------------------------------

// The operands of one statement, taken one by one.
class Reader {
 public:
  Reader(const Statement& s, OperandReader& operands, Draft& ins)
      : s_(s), operands_(operands), ins_(ins) {}
  size_t left() const { return s_.operands.size() - at_; }
  void source(int bytes) {
    ins_.read.push_back(operands_.source(next(), bytes));
  }
  void source_predicate() {
    const Operand& o = next();
    ins_.read.push_back(operands_.predicate(o.text));
    if (o.negated) ins_.invert_last();
  }
  void destination() { ins_.written = {operands_.destination(next())}; }
  void predicate() { ins_.written = {operands_.predicate(next().text)}; }
  void pair() {  // d|p
    const Operand& to = next();
    ins_.written = {operands_.destination(to), operands_.predicate(to.second)};
  }

 private:
  const Operand& next() { return s_.operands.at(at_++); }

  const Statement& s_;
  OperandReader& operands_;
  Draft& ins_;
  size_t at_ = 0;
};

Handler shuffle_handler(const Statement& s) {
  return s.has("up")     ? shuffle<kUp>
         : s.has("down") ? shuffle<kDown>
         : s.has("bfly") ? shuffle<kButterfly>
                         : shuffle<kIndex>;
}

void decode_barrier(const Statement& s, Reader& in, Draft& ins) {
  const bool reduces = s.has("red");
  ins.kind = s.has("arrive") ? Kind::kArrive : Kind::kBarrier;
  ins.whole_warps =
      ins.kind == Kind::kArrive && (s.name() == "bar" || s.has("aligned"));
  if (reduces) {
    const bool counts = s.has("popc");
    counts ? in.destination() : in.predicate();
    ins.run = counts         ? count_result
              : s.has("and") ? vote_result<true>
                             : vote_result<false>;
  }
  in.source(4);
  if (in.left() > (reduces ? 1u : 0u))
    in.source(4);
  else
    ins.read.push_back(kNowhere);
  if (reduces) in.source_predicate();
}

void decode_cluster_barrier(const Statement& s, Draft& ins) {
  const bool arrives = s.has("arrive");
  ins.kind = arrives ? Kind::kClusterArrive : Kind::kClusterWait;
  ins.releases = arrives && !s.has("relaxed");
}

void decode_shuffle(const Statement& s, Reader& in, Draft& ins) {
  ins.run = shuffle_handler(s);
  in.pair();
  for (int k = 0; k < 3; ++k) in.source(4);
  ins.from_bytes = 4;
}

void decode_vote(const Statement& s, Reader& in, Draft& ins) {
  if (s.has("ballot")) {
    in.destination();
    ins.run = vote<kBallot>;
  } else {
    in.predicate();
    ins.run = s.has("all")   ? vote<kAll>
              : s.has("any") ? vote<kAny>
                             : vote<kUniform>;
  }
  in.source_predicate();
}

void decode_match(const Statement& s, Reader& in, Draft& ins) {
  ins.run = s.has("all") ? match_all : match_any;
  in.pair();
  ins.from_bytes = s.type().bytes;
  in.source(ins.from_bytes);
}

void decode_reduction(const Statement& s, Reader& in, Draft& ins) {
  ins.run = reduction(s);
  in.destination();
  in.source(4);
  ins.from_bytes = 4;
}

}  // namespace

bool decode_collective(const Statement& s, OperandReader& operands,
                       Draft& ins) {
  Reader in(s, operands, ins);
  const std::string& op = s.name();
  const bool barrier = op == "bar" || op == "barrier";
  if (op == "activemask") {
    in.destination();
    ins.run = active_mask;
    return true;
  }
  if (op == "trap" || op == "brkpt") {
    ins.run = trap;
    return true;
  }
  if (barrier && s.has("cluster")) {
    decode_cluster_barrier(s, ins);
    return true;
  }
  if (barrier && !s.has("warp")) {
    decode_barrier(s, in, ins);
    return true;
  }
  if (barrier) {
    ins.run = nothing;
    ins.orders = true;
  } else if (op == "shfl") {
    decode_shuffle(s, in, ins);
  } else if (op == "vote") {
    decode_vote(s, in, ins);
  } else if (op == "match") {
    decode_match(s, in, ins);
  } else if (op == "redux") {
    decode_reduction(s, in, ins);
  } else if (op == "elect") {
    in.pair();
    ins.run = elect;
  } else {
    return false;
  }
  ins.kind = Kind::kCollective;
  in.source(4);
  return true;
}

}  // namespace simt
