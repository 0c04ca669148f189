// Barriers in shared memory: arriving, waiting, and what arrives by itself.
#include "common/simt/isa/async/mbarrier.h"

#include <algorithm>
#include <cstring>

#include "common/simt/core/block.h"
#include "common/simt/core/finding.h"
#include "common/simt/core/lanes.h"
#include "common/simt/isa/async/async.h"
#include "common/simt/isa/memory/places.h"
#include "common/simt/observe/observers.h"

namespace simt {
namespace {

// ---- Its 64 bits ---------------------------------------------------------

// As an H200 lays them out: counts are negative, and go up to zero.
class Word {
 public:
  static constexpr uint32_t kMost = (1 << 20) - 1;

  explicit Word(uint64_t bits) : bits_(bits) {}
  Word(uint32_t expected, bool odd)
      : bits_(uint64_t{odd} << 63 | field(expected, kPending) |
              field(expected, kExpected)) {}

  uint64_t bits() const { return bits_; }
  bool odd() const { return bits_ >> 63; }  // the phase that goes on
  uint32_t pending() const { return count(kPending); }
  uint32_t expected() const { return count(kExpected); }
  // Bytes that are announced and have not come. Negative: they came first.
  int32_t bytes() const {
    const auto negative = static_cast<int32_t>(bits_ >> kBytes << 11);
    return -(negative >> 11);
  }
  void set_pending(uint32_t n) { set(n, kPending, kCount); }
  void set_expected(uint32_t n) { set(n, kExpected, kCount); }
  void set_bytes(int32_t n) { set(n, kBytes, kByteCount); }

  // Begins the next phase if nothing is missing in this one.
  bool complete() {
    if (pending() || bytes()) return false;
    *this = Word(expected(), !odd());
    return true;
  }

 private:
  static constexpr int kExpected = 1, kBytes = 21, kPending = 43;
  static constexpr uint64_t kCount = (1 << 20) - 1, kByteCount = (1 << 21) - 1;

  static uint64_t field(uint32_t n, int at) { return (-n & kCount) << at; }
  uint32_t count(int at) const {
    return static_cast<uint32_t>(-(bits_ >> at) & kCount);
  }
  void set(uint32_t n, int at, uint64_t mask) {
    bits_ = (bits_ & ~(mask << at)) | (-n & mask) << at;
  }

  uint64_t bits_;
};

Word word_at(const Access& a, int lane) {
  return Word(*a.at<const uint64_t>(lane));
}

// Those of the same block as the first lane's.
Access find_some(Warp& warp, const Instruction& ins, uint32_t mask, Use use) {
  Access a(ins.address(), 8, use);
  find_places(warp, ins, mask, 8, a);
  if (a.space != Space::kShared)
    fault(warp, ins, first_lane(a.mask), "bad barrier",
          "an mbarrier lies in shared memory, and this one does not",
          kLaunchFailure);
  return a;
}

Access find_barriers(Warp& warp, const Instruction& ins, uint32_t mask,
                     Use use) {
  const Access a = find_some(warp, ins, mask, use);
  const uint32_t elsewhere = a.owner ? mask : mask & ~a.mask;
  if (elsewhere)
    fault(warp, ins, first_lane(elsewhere), "bad barrier",
          "the mbarrier must lie in the block's own shared memory: at another "
          "block's, threads may only arrive",
          kLaunchFailure);
  return a;
}

// The same, and tells who watches.
Access barriers(Warp& warp, const Instruction& ins, uint32_t mask, Use use) {
  const Access a = find_barriers(warp, ins, mask, use);
  observe::mbarrier(warp, ins, a);
  return a;
}

// f(a) for those of each block that lanes mean.
template <class F>
void at_each_block(Warp& warp, const Instruction& ins, uint32_t mask, F f) {
  while (mask) {
    const Access a = find_some(warp, ins, mask, Use::kAtomic);
    observe::mbarrier(warp, ins, a);
    f(a);
    mask &= ~a.mask;
  }
}

void write(Warp& warp, const Access& a, int lane, Word word) {
  *a.at<uint64_t>(lane) = word.bits();
  warp.block->quiet = false;
}

// The same, unless it completes the phase.
void update(Warp& warp, const Access& a, int lane, Word word) {
  if (word.complete())
    observe::complete(a.owner ? *a.owner : *warp.block, a.address[lane]);
  write(warp, a, lane, word);
}

// ---- Arriving ------------------------------------------------------------

void announce(Warp& warp, const Instruction& ins, int lane, Word& word,
              int64_t bytes) {
  const int64_t all = word.bytes() + bytes;
  if (all > Word::kMost || all < -int64_t{Word::kMost})
    fault(warp, ins, lane, "bad barrier",
          "it waits for " + std::to_string(all) + " bytes; at most " +
              std::to_string(Word::kMost) + " can be on their way",
          kLaunchFailure);
  word.set_bytes(static_cast<int32_t>(all));
}

// `together`: what the lanes of its warp that have not arrived yet will count
// there. To a GPU they are one arrival: seen on an H200, which ends the kernel.
void require_pending(Warp& warp, const Instruction& ins, int lane, Word word,
                     uint32_t count, uint32_t together, bool may_complete) {
  if (count != 0 && together + !may_complete <= word.pending()) return;
  fault(warp, ins, lane, "bad barrier",
        (together == count ? "it arrives " : "its warp's lanes arrive ") +
            std::to_string(together) + " times at an mbarrier that " +
            "waits for " + std::to_string(word.pending()) +
            (may_complete ? "" : ", and must not complete its phase"),
        kLaunchFailure);
}

enum class Arrival : uint8_t { kPlain, kNoComplete, kExpects };

template <Arrival how, bool drops>
void arrive_at(Warp& warp, const Instruction& ins, const Access& a) {
  const uint32_t* operand =
      ins.source_count ? lanes<uint32_t>(warp, ins.source(0)) : nullptr;
  const bool expects = how == Arrival::kExpects;
  const auto count_of = [&](int l) {
    return operand && !expects ? operand[l] : 1;
  };
  const auto count_of_all = [&](uint32_t mask, uint64_t address) {
    uint32_t count = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
      if (a.address[first_lane(rest)] == address)
        count += count_of(first_lane(rest));
    return count;
  };
  if (ins.result(0) != kNowhere)
    for (uint32_t rest = a.mask; rest; rest &= rest - 1)
      lanes<uint64_t>(warp, ins.result(0))[first_lane(rest)] =
          word_at(a, first_lane(rest)).bits();
  for (uint32_t rest = a.mask; rest; rest &= rest - 1) {
    const int l = first_lane(rest);
    const uint32_t count = count_of(l);
    Word word = word_at(a, l);
    require_pending(warp, ins, l, word, count, count_of_all(rest, a.address[l]),
                    how != Arrival::kNoComplete);
    if (expects) announce(warp, ins, l, word, operand[l]);
    if (drops && count > word.expected())
      fault(warp, ins, l, "bad barrier",
            "it drops out " + std::to_string(count) +
                " times, and the phases "
                "to come wait for " +
                std::to_string(word.expected()),
            kLaunchFailure);
    if (drops) word.set_expected(word.expected() - count);
    word.set_pending(word.pending() - count);
    if (ins.releases) observe::hand_over(warp, a, l);
    update(warp, a, l, word);
  }
}

template <Arrival how, bool drops>
void arrive(Warp& warp, const Instruction& ins, uint32_t mask) {
  at_each_block(warp, ins, mask,
                [&](const Access& a) { arrive_at<how, drops>(warp, ins, a); });
}

template <int sign>
void count_bytes(Warp& warp, const Instruction& ins, uint32_t mask) {
  const uint32_t* bytes = lanes<uint32_t>(warp, ins.source(0));
  at_each_block(warp, ins, mask, [&](const Access& a) {
    for (uint32_t rest = a.mask; rest; rest &= rest - 1) {
      const int l = first_lane(rest);
      Word word = word_at(a, l);
      announce(warp, ins, l, word, int64_t{sign} * bytes[l]);
      update(warp, a, l, word);
    }
  });
}

// ---- What arrives by itself ----------------------------------------------

template <bool counts>
void arrive_behind_copies(Warp& warp, const Instruction& ins, uint32_t mask) {
  const Access a = barriers(warp, ins, mask, Use::kAtomic);
  for (uint32_t rest = counts ? a.mask : 0; rest; rest &= rest - 1) {
    Word word = word_at(a, first_lane(rest));
    if (word.pending() == Word::kMost)
      fault(warp, ins, first_lane(rest), "bad barrier",
            "it waits for as many arrivals as it can count", kLaunchFailure);
    word.set_pending(word.pending() + 1);
    write(warp, a, first_lane(rest), word);
  }
  AsyncCopies& copies = warp.block->copies;
  copies.arrivals.push_back({&warp, &ins, a, copies.begun});
}

// The copies of these lanes are made, and so they arrive.
void arrive_now(const AsyncArrival& arrival, uint32_t mask) {
  Warp& warp = *arrival.warp;
  make_copies(warp, mask, arrival.behind);
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const int l = first_lane(rest);
    Word word = word_at(arrival.at, l);
    require_pending(warp, *arrival.ins, l, word, 1, 1, true);
    word.set_pending(word.pending() - 1);
    observe::hand_over(warp, arrival.at, l);
    update(warp, arrival.at, l, word);
  }
}

// The copy is made: its bytes have come.
void bring_now(AsyncCopy& copy) {
  make_bulk(copy);
  const int l = first_lane(copy.barrier->mask);
  Word word = word_at(*copy.barrier, l);
  announce(*copy.warp, *copy.ins, l, word, -int64_t{copy.bytes()});
  observe::hand_over(*copy.warp, *copy.barrier, l);
  update(*copy.warp, *copy.barrier, l, word);
}

// What goes on by itself and belongs to this barrier ends at the latest when
// somebody looks whether it has.
void end_async(Block& block, uint64_t barrier) {
  auto& arrivals = block.copies.arrivals;
  for (auto arrival = arrivals.begin(); arrival != arrivals.end();) {
    const uint32_t here =
        lanes_with(barrier, arrival->at.address, arrival->at.mask);
    if (here) arrive_now(*arrival, here);
    arrival->at.mask &= ~here;
    arrival = arrival->at.mask ? std::next(arrival) : arrivals.erase(arrival);
  }
  std::erase_if(block.copies.pending, [&](AsyncCopy& copy) {
    const Access* told = copy.barrier ? &*copy.barrier : nullptr;
    if (!told || told->address[first_lane(told->mask)] != barrier) return false;
    bring_now(copy);
    return true;
  });
}

// ---- Waiting -------------------------------------------------------------

bool has_completed(Warp& warp, const Instruction& ins, const Access& a, int l,
                   bool by_parity) {
  const bool odd = by_parity
                       ? lanes<uint32_t>(warp, ins.source(0))[l] & 1
                       : Word(lanes<uint64_t>(warp, ins.source(0))[l]).odd();
  return word_at(a, l).odd() != odd;
}

template <bool by_parity, bool sleeps>
void wait(Warp& warp, const Instruction& ins, uint32_t mask) {
  const Access a = barriers(warp, ins, mask, Use::kAtomic);
  uint32_t done = 0;
  uint64_t found = 0;
  for (uint32_t rest = a.mask; rest; rest &= rest - 1) {
    const int l = first_lane(rest);
    if (!warp.block->copies.empty()) end_async(*warp.block, a.address[l]);
    if (has_completed(warp, ins, a, l, by_parity)) done |= rest & -rest;
    found = found * 31 + word_at(a, l).bits();
  }
  write_predicate(warp, ins.result(0), done, a.mask);
  if (ins.acquires && done) observe::take_over(warp, a, done);
  if (done == a.mask) return;
  if (sleeps)
    warp.poll.slept = true;
  else
    warp.poll.found(found);
}

// ---- The rest ------------------------------------------------------------

void init(Warp& warp, const Instruction& ins, uint32_t mask) {
  const uint32_t* count = lanes<uint32_t>(warp, ins.source(0));
  uint8_t words[kLanes * kMatrixBytes];
  Access a = find_barriers(warp, ins, mask, Use::kStore);
  for (uint32_t rest = a.mask; rest; rest &= rest - 1) {
    const int l = first_lane(rest);
    if (count[l] == 0 || count[l] > Word::kMost)
      fault(warp, ins, l, "bad barrier",
            "an mbarrier is for 1 to " + std::to_string(Word::kMost) +
                " arrivals, not " + std::to_string(count[l]),
            kLaunchFailure);
    const uint64_t bits = Word(count[l], false).bits();
    std::memcpy(words + l * kMatrixBytes, &bits, sizeof bits);
  }
  a.staged = words;  // Who stores what is there already does no harm.
  observe::mbarrier(warp, ins, a);
  for (uint32_t rest = a.mask; rest; rest &= rest - 1)
    write(warp, a, first_lane(rest), Word(count[first_lane(rest)], false));
}

// Whether others are done with it is not looked at: cuda::pipeline counts them
// by an atomic of one lane for its warp, which PTX promises nothing of.
void invalidate(Warp& warp, const Instruction& ins, uint32_t mask) {
  observe::forget(warp, find_barriers(warp, ins, mask, Use::kStore));
}

void count_pending(Warp& warp, const Instruction& ins, uint32_t mask) {
  map_lanes(
      mask, lanes<uint32_t>(warp, ins.result(0)),
      [](uint64_t state) { return Word(state).pending(); },
      lanes<uint64_t>(warp, ins.source(0)));
}

// ---- Decoding ------------------------------------------------------------

template <bool drops>
Handler arrival(const Statement& s) {
  return s.has("noComplete")  ? arrive<Arrival::kNoComplete, drops>
         : s.has("expect_tx") ? arrive<Arrival::kExpects, drops>
                              : arrive<Arrival::kPlain, drops>;
}

Handler waiting(const Statement& s) {
  if (s.has("try_wait"))
    return s.has("parity") ? wait<true, true> : wait<false, true>;
  return s.has("parity") ? wait<true, false> : wait<false, false>;
}

void decode_wait(const Statement& s, OperandReader& operands, Draft& ins) {
  ins.written = {operands.predicate(s.operands.at(0).text)};
  ins.read = {operands.source(s.operands.at(2), s.has("parity") ? 4 : 8)};
  ins.acquires = !s.has("relaxed");
  ins.kind = Kind::kPoll;
  ins.run = waiting(s);
}

void decode_arrival(const Statement& s, OperandReader& operands, Draft& ins) {
  ins.written = {operands.destination(s.operands.at(0))};
  if (s.operands.size() > 2) ins.read = {operands.source(s.operands[2], 4)};
  ins.releases = !s.has("relaxed");
  ins.run = s.has("arrive_drop") ? arrival<true>(s) : arrival<false>(s);
}

void decode_operation(const Statement& s, OperandReader& operands, Draft& ins) {
  ins.spread = Spread::kAccess;
  ins.for_cluster = true;
  const bool weak = s.has("init") || s.has("inval");
  ins.strength = weak ? Strength::kWeak : Strength::kStrong;
  ins.element_bytes = ins.from_bytes = 4;  // of the count that init stores
  if (s.name() == "cp") {
    ins.run = s.has("noinc") ? arrive_behind_copies<false>
                             : arrive_behind_copies<true>;
  } else if (s.has("test_wait") || s.has("try_wait")) {
    decode_wait(s, operands, ins);
  } else if (s.has("arrive") || s.has("arrive_drop")) {
    decode_arrival(s, operands, ins);
  } else if (s.has("inval")) {
    ins.run = invalidate;
  } else {
    ins.read = {operands.source(s.operands.at(1), 4)};
    ins.run = s.has("init")        ? init
              : s.has("expect_tx") ? count_bytes<1>
                                   : count_bytes<-1>;
  }
}

std::string counted(uint32_t n, const char* what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

std::string lacking(uint64_t bits) {
  const Word word(bits);
  std::string text;
  if (word.pending()) text = counted(word.pending(), "arrival");
  if (word.pending() && word.bytes()) text += " and ";
  if (word.bytes() > 0) text += counted(word.bytes(), "byte");
  if (word.bytes() < 0)
    text += "the announcement of " + counted(-word.bytes(), "byte");
  return text;
}

}  // namespace

std::string lacking(const Block& block, const uint8_t* registers,
                    const Instruction& wait, int lane) {
  const Address& from = wait.address();
  uint64_t base = 0, bits = 0;
  if (from.base != kNowhere)
    std::memcpy(&base, registers + from.base + lane * from.bytes, from.bytes);
  const uint64_t at = (base + from.offset) & ((1u << kRankShift) - 1);
  std::memcpy(&bits, block.shared.data() + at, sizeof bits);
  return lacking(bits);
}

void bring_bulk(AsyncCopy& copy) { bring_now(copy); }

bool decode_mbarrier(const Statement& s, OperandReader& operands, Draft& ins) {
  const bool behind_copies = s.name() == "cp" && s.op.at(2) == "mbarrier";
  if (s.name() != "mbarrier" && !behind_copies) return false;
  if (s.has("pending_count")) {
    ins.written = {operands.destination(s.operands.at(0))};
    ins.read = {operands.source(s.operands.at(1), 8)};
    ins.run = count_pending;
  } else {
    decode_operation(s, operands, ins);
  }
  return true;
}

}  // namespace simt
