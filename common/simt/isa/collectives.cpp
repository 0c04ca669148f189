// Shuffles, votes, matches, reductions, barriers: handlers and decoding.
#include "common/simt/isa/collectives.h"

#include <algorithm>
#include <type_traits>

#include "common/simt/core/block.h"
#include "common/simt/core/finding.h"

namespace simt {
namespace {

void set_predicate(Warp& warp, Place place, uint32_t mask, uint32_t value) {
  if (place == kNowhere) return;
  uint32_t& to = *lanes<uint32_t>(warp, place);
  to = (to & ~mask) | (value & mask);
}

void set_all(Warp& warp, Place place, uint32_t mask, uint32_t value) {
  if (place == kNowhere) return;
  uint32_t* to = lanes<uint32_t>(warp, place);
  for (int l = 0; l < kLanes; ++l)
    if (mask >> l & 1) to[l] = value;
}

// ---- shfl ----------------------------------------------------------------

// `lane` wants a value from `source`, who must take part. One that never had a
// thread is forgiven: a ragged last warp asks it and ignores the answer.
void require_source(const Warp& warp, const Instruction& ins, int lane,
                    int source) {
  if (warp.exchange.members >> source & 1) return;
  if (!(warp.threads >> source & 1)) return;
  fault(warp, ins, lane, "missing lane",
        "lane " + std::to_string(lane) + " shuffles with lane " +
            std::to_string(source) +
            (warp.live >> source & 1 ? ", which the mask leaves out"
                                     : ", which has exited"),
        719);
}

enum Shuffle : uint8_t { kUp, kDown, kButterfly, kIndex };

// PTX ISA, "shfl.sync": c holds a clamp in bits 0-4 and a mask that divides
// the warp into segments in bits 8-12.
template <Shuffle how>
void shuffle(Warp& warp, const Instruction& ins, uint32_t mask) {
  const Exchange& in = warp.exchange;
  uint32_t* to = lanes<uint32_t>(warp, ins.dst);
  uint32_t valid = 0;
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
    require_source(warp, ins, lane, from);
    valid |= uint32_t{in_range} << lane;
    to[lane] = static_cast<uint32_t>(in.a[from]);
  }
  set_predicate(warp, ins.dst2, mask, valid);
}

// ---- vote, match, redux --------------------------------------------------

enum Vote : uint8_t { kBallot, kAll, kAny, kUniform };

template <Vote how>
void vote(Warp& warp, const Instruction& ins, uint32_t mask) {
  const uint32_t members = warp.exchange.members;
  const uint32_t yes = warp.exchange.predicate & members;
  if constexpr (how == kBallot) return set_all(warp, ins.dst, mask, yes);
  const bool answer = how == kAll   ? yes == members
                      : how == kAny ? yes != 0
                                    : yes == 0 || yes == members;
  set_predicate(warp, ins.dst, mask, answer ? kAllLanes : 0);
}

// The members whose value is that of `lane`.
uint32_t same_value(const Warp& warp, int lane) {
  const Exchange& in = warp.exchange;
  return lanes_with(in.a[lane], in.a, in.members);
}

void match_any(Warp& warp, const Instruction& ins, uint32_t mask) {
  for (uint32_t rest = mask; rest; rest &= rest - 1)
    lanes<uint32_t>(warp, ins.dst)[first_lane(rest)] =
        same_value(warp, first_lane(rest));
}

void match_all(Warp& warp, const Instruction& ins, uint32_t mask) {
  const uint32_t members = warp.exchange.members;
  const bool all = same_value(warp, first_lane(members)) == members;
  set_all(warp, ins.dst, mask, all ? members : 0);
  set_predicate(warp, ins.dst2, mask, all ? kAllLanes : 0);
}

enum Reduction : uint8_t { kAdd, kMin, kMax, kAnd, kOr, kXor };

template <class T>
void reduce(Warp& warp, const Instruction& ins, uint32_t mask) {
  const auto value = [&](uint32_t members) {
    return static_cast<T>(warp.exchange.a[first_lane(members)]);
  };
  uint32_t rest = warp.exchange.members;
  T sum = value(rest);
  while (rest &= rest - 1) {
    const T x = value(rest);
    switch (ins.mode) {
      case kAdd:
        sum = static_cast<T>(uint32_t(sum) + uint32_t(x));
        break;
      case kMin:
        sum = std::min(sum, x);
        break;
      case kMax:
        sum = std::max(sum, x);
        break;
      case kAnd:
        sum &= x;
        break;
      case kOr:
        sum |= x;
        break;
      default:
        sum ^= x;
    }
  }
  set_all(warp, ins.dst, mask, static_cast<uint32_t>(sum));
}

void nothing(Warp&, const Instruction&, uint32_t) {}

void active_mask(Warp& warp, const Instruction& ins, uint32_t mask) {
  set_all(warp, ins.dst, mask, mask);
}

void elect(Warp& warp, const Instruction& ins, uint32_t mask) {
  const int leader = first_lane(warp.exchange.members);
  set_all(warp, ins.dst, mask, leader);
  set_predicate(warp, ins.dst2, mask, 1u << leader);
}

// ---- bar.red -------------------------------------------------------------

void count_result(Warp& warp, const Instruction& ins, uint32_t mask) {
  set_all(warp, ins.dst, mask, warp.block->results_count);
}
template <bool all>
void vote_result(Warp& warp, const Instruction& ins, uint32_t mask) {
  const Block& block = *warp.block;
  const bool yes = all ? block.results_count == block.results_lanes
                       : block.results_count > 0;
  set_predicate(warp, ins.dst, mask, yes ? kAllLanes : 0);
}

void trap(Warp& warp, const Instruction& ins, uint32_t mask) {
  fault(warp, ins, first_lane(mask), "trap", "the kernel executed a trap", 719);
}

// ---- Decoding ------------------------------------------------------------

// The operands of one statement, taken one by one.
class Reader {
 public:
  Reader(const Statement& s, OperandReader& operands)
      : s_(s), operands_(operands) {}
  bool more() const { return at_ < s_.operands.size(); }
  Place source(int bytes) { return operands_.source(next(), bytes); }
  Place destination() { return operands_.destination(next()); }
  Place predicate() { return operands_.predicate(next().text); }
  const Operand& next() { return s_.operands.at(at_++); }
  const Operand& peek() const { return s_.operands.at(at_); }

 private:
  const Statement& s_;
  OperandReader& operands_;
  size_t at_ = 0;
};

Handler shuffle_handler(const Statement& s) {
  return s.has("up")     ? shuffle<kUp>
         : s.has("down") ? shuffle<kDown>
         : s.has("bfly") ? shuffle<kButterfly>
                         : shuffle<kIndex>;
}

void decode_barrier(const Statement& s, Reader& in, Instruction& ins) {
  const bool reduces = s.has("red");
  ins.kind = Kind::kBarrier;
  ins.flags = s.has("arrive");
  if (reduces) {
    const bool counts = s.has("popc");
    ins.dst = counts ? in.destination() : in.predicate();
    ins.run = counts         ? count_result
              : s.has("and") ? vote_result<true>
                             : vote_result<false>;
  }
  ins.a = in.source(4);
  const size_t left = s.operands.size() - (reduces ? 2 : 1);
  if (left > (reduces ? 1u : 0u)) ins.b = in.source(4);
  if (reduces) {
    ins.c_negated = in.peek().negated;
    ins.c = in.predicate();
  }
}

// "barrier.cluster.arrive.release", "barrier.cluster.wait.aligned", ...
void decode_cluster_barrier(const Statement& s, Instruction& ins) {
  ins.kind = Kind::kCluster;
  ins.flags = s.has("arrive");
  ins.mode = s.has("relaxed");  // arrives, and hands nothing over
  if (s.has("arrive") == s.has("wait") || (ins.mode && !ins.flags))
    throw Error("this barrier of a cluster is not known to the executor");
}

void decode_vote(const Statement& s, OperandReader& operands, Reader& in,
                 Instruction& ins) {
  if (s.has("ballot")) {
    ins.dst = in.destination();
    ins.run = vote<kBallot>;
  } else {
    ins.dst = in.predicate();
    ins.run = s.has("all")   ? vote<kAll>
              : s.has("any") ? vote<kAny>
                             : vote<kUniform>;
  }
  ins.c_negated = in.peek().negated;
  ins.vote = operands.predicate(in.next().text);
}

uint8_t reduction(const Statement& s) {
  const char* const names[] = {"add", "min", "max", "and", "or", "xor"};
  for (uint8_t k = 0; k < 6; ++k)
    if (s.has(names[k])) return k;
  throw Error("this reduction is not known to the executor");
}

}  // namespace

bool decode_collective(const Statement& s, OperandReader& operands,
                       Instruction& ins) {
  Reader in(s, operands);
  const std::string& op = s.name();
  if (op == "activemask") {
    ins.dst = in.destination();
    ins.run = active_mask;
    return true;
  }
  if (op == "trap" || op == "brkpt") {
    ins.run = trap;
    return true;
  }
  const bool of_warp = (op == "bar" || op == "barrier") && s.has("warp");
  if ((op == "bar" || op == "barrier") && !of_warp) {
    if (s.has("cluster")) {
      decode_cluster_barrier(s, ins);
      return true;
    }
    decode_barrier(s, in, ins);
    return true;
  }
  ins.kind = Kind::kCollective;
  if (of_warp) {
    ins.run = nothing;
    ins.orders = true;
  } else if (op == "shfl") {
    const Operand& to = in.next();
    ins.dst = operands.destination(to);
    ins.dst2 = operands.predicate(to.second);
    ins.a = in.source(4);
    ins.b = in.source(4);
    ins.c = in.source(4);
    ins.run = shuffle_handler(s);
  } else if (op == "vote") {
    decode_vote(s, operands, in, ins);
  } else if (op == "match") {
    const Operand& to = in.next();
    ins.size = s.type().bytes;
    ins.dst = operands.destination(to);
    ins.dst2 = operands.predicate(to.second);
    ins.a = in.source(ins.size);
    ins.run = s.has("all") ? match_all : match_any;
  } else if (op == "redux") {
    if (s.type().is_float())
      throw Error("floating-point reductions need a newer GPU than the model");
    ins.mode = reduction(s);
    ins.dst = in.destination();
    ins.a = in.source(4);
    ins.run = s.type().is_signed() ? reduce<int32_t> : reduce<uint32_t>;
  } else if (op == "elect") {
    const Operand& to = in.next();
    ins.dst = operands.destination(to);
    ins.dst2 = operands.predicate(to.second);
    ins.run = elect;
  } else {
    ins.kind = Kind::kPlain;
    return false;
  }
  if (!in.more()) throw Error("this form, without a member mask, is too old");
  ins.d = in.source(4);
  return true;
}

}  // namespace simt
