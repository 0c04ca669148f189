// Judges two accesses that nothing orders: stores of the same value, reads that
// decide the same whichever comes first, guesses that are verified.
#include "common/simt/observe/verdict.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "common/simt/core/conditions.h"
#include "common/simt/core/lanes.h"

namespace simt {
namespace {

// Does a lane copy what another lane copies by the same instruction, or (-1)
// what is there already?
bool copies_same(const Mine& mine, int lane, int other) {
  const AsyncCopy& copy = *mine.copy;
  if (copy.is_bulk()) return false;
  const uint32_t bytes = copy.from ? copy.from->bytes : 0;
  const auto copied = [&](int l) {
    std::vector<uint8_t> all(copy.to.bytes);
    if (bytes) std::memcpy(all.data(), copy.from->at<uint8_t>(l), bytes);
    return all;
  };
  const std::vector<uint8_t> mine_is = copied(lane);
  if (other < 0)
    return std::equal(mine_is.begin(), mine_is.end(),
                      copy.to.at<uint8_t>(lane));
  return copy.to.address[lane] == copy.to.address[other] &&
         mine_is == copied(other);
}

int64_t extended(uint64_t bits, int bytes, bool is_signed) {
  const int unused = 64 - 8 * bytes;
  const uint64_t high = bits << unused;
  return is_signed ? static_cast<int64_t>(high) >> unused
                   : static_cast<int64_t>(high >> unused);
}

bool answer(const Comparison& compare, uint64_t loaded, uint64_t with) {
  const auto value = [&](uint64_t bits) {
    return extended(bits, compare.bytes, compare.is_signed);
  };
  return holds(compare.relation, value(loaded), value(with));
}

// What a comparison would have answered before a store, if that can be told
// from what was asked there: `asked_with` is with what.
std::optional<bool> answer_before(const Comparison& compare, uint64_t with,
                                  const TestedStore& tested,
                                  uint64_t asked_with) {
  const Comparison& asked = *tested.asked;
  if (asked.bytes != compare.bytes) return {};
  const Relation equal = tested.answer ? Relation::kEq : Relation::kNe;
  if (asked.relation == equal) return answer(compare, asked_with, with);
  const bool may_be_equal = answer(asked, with, asked_with) == tested.answer;
  const bool asks_equal =
      compare.relation == Relation::kEq || compare.relation == Relation::kNe;
  if (may_be_equal || !asks_equal) return {};
  return compare.relation == Relation::kNe;
}

uint64_t bits_at(Warp& warp, int lane, Place place, int bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, lanes<uint8_t>(warp, place) + lane * bytes, bytes);
  return bits;
}

bool contains(const std::vector<Place>& places, Place place) {
  return std::ranges::find(places, place) != places.end();
}

// What is in memory where a lane accesses it.
uint64_t bits_there(const Mine& mine, int lane) {
  uint64_t bits = 0;
  std::memcpy(&bits, mine.access.at<uint8_t>(lane), mine.ins.element_bytes);
  return bits;
}

// What a lane's store, or compare-and-swap, leaves where it has found `there`.
uint64_t left_there(const Mine& mine, int lane, uint64_t there) {
  const Instruction& ins = mine.ins;
  if (ins.source_count == 1)
    return bits_at(mine.warp, lane, ins.source(0), ins.from_bytes);
  const auto operand = [&](int k) {
    return bits_at(mine.warp, lane, ins.source(k), ins.element_bytes);
  };
  return operand(0) == there ? operand(1) : there;
}

// Answers of a comparison, before a store and after it, as far as they are
// known.
struct Answers {
  std::optional<bool> before, after;
  bool alike() const { return before && before == after; }
};

std::optional<bool> joined(bool both, std::optional<bool> a,
                           std::optional<bool> b) {
  if (a == !both || b == !both) return !both;
  if (!a || !b) return {};
  return both;
}

Answers joined(const Test::Joined& how, Answers a, Answers b) {
  const auto turn = [](Answers& one) {
    if (one.before) one.before = !*one.before;
    if (one.after) one.after = !*one.after;
  };
  if (how.not_first) turn(a);
  if (how.not_second) turn(b);
  return {joined(how.both, a.before, b.before),
          joined(how.both, a.after, b.after)};
}

// Does all that is asked of a value have the same answer before and after?
bool are_alike(std::vector<Answers> answers,
               const std::vector<Test::Joined>& pairs) {
  for (const Test::Joined& pair : pairs)
    answers[pair.first] = answers[pair.second] =
        joined(pair, answers[pair.first], answers[pair.second]);
  return std::ranges::all_of(answers, &Answers::alike);
}

// A thread tests a word that another one sets. Does it end the same, whichever
// comes first: does the test answer alike, or does its thread, too, store what
// the other one does? `mine` is either of the two.
bool ends_the_same(const Mine& mine, int lane, const Test& test,
                   const TestedStore& tested) {
  // Its thread stores nothing that the other one does not.
  const bool no_more = test.besides == 0 || test.besides == tested.besides;
  if (no_more && test.uniform_value &&
      test.uniform_value == tested.uniform_value)
    return true;
  const int size = mine.ins.element_bytes;
  const int width = mine.stores ? mine.ins.from_bytes : mine.ins.to_bytes;
  const auto loaded = [&](uint64_t bits) {
    return extended(bits, size, test.is_signed);
  };
  const int64_t there = loaded(bits_there(mine, lane));
  const auto in_register = [&](Place place) {
    return loaded(bits_at(mine.warp, lane, place, width));
  };
  // What the tester stores, if it does, will be compared with what is there.
  if (no_more && test.stores != kNowhere &&
      (mine.stores || in_register(test.stores) == there))
    return true;
  if (test.comparisons.empty()) return false;
  if (!mine.stores && !tested.asked) return false;
  const int64_t now =
      mine.stores ? loaded(left_there(mine, lane, bits_there(mine, lane)))
                  : there;
  std::vector<Answers> answers;
  for (const Comparison& one : test.comparisons) {
    Answers& both = answers.emplace_back();
    if (mine.stores && !contains(tested.uniform, one.with)) continue;
    const uint64_t with =
        bits_at(mine.warp, lane, one.with, one.bytes) + one.added;
    both.after = answer(one, now, with);
    both.before =
        mine.stores ? answer(one, there, with)
                    : answer_before(one, with, tested,
                                    bits_at(mine.warp, lane, tested.asked->with,
                                            tested.asked->bytes));
  }
  return are_alike(std::move(answers), test.joined);
}

// A load that is a guess, beside an atomic.
Verdict of_guess(Guess guess, const Statement& atomic) {
  switch (guess) {
    case Guess::kVerified:
      return Verdict::kFine;
    case Guess::kBeforeMin:
      return atomic.has("min") ? Verdict::kFine : Verdict::kRace;
    case Guess::kBeforeMax:
      return atomic.has("max") ? Verdict::kFine : Verdict::kRace;
    default:
      return Verdict::kGuess;
  }
}

}  // namespace

bool stores_same(const Mine& mine, int lane, int other) {
  if (mine.copy) return copies_same(mine, lane, other);
  const Instruction& ins = mine.ins;
  const Access& a = mine.access;
  if (other >= 0 && a.address[lane] != a.address[other]) return false;
  if (a.staged) {
    const uint8_t* mine_bytes = a.staged + lane * kMatrixBytes;
    const uint8_t* there =
        other < 0 ? a.at<uint8_t>(lane) : a.staged + other * kMatrixBytes;
    return std::memcmp(mine_bytes, there, a.bytes) == 0;
  }
  for (int k = 0; k < ins.source_count; ++k) {
    const uint8_t* values = lanes<uint8_t>(mine.warp, ins.source(k));
    const uint8_t* there = other < 0
                               ? a.at<uint8_t>(lane) + k * ins.element_bytes
                               : values + other * ins.from_bytes;
    if (std::memcmp(values + lane * ins.from_bytes, there, ins.element_bytes) !=
        0)
      return false;
  }
  return true;
}

Verdict judge(const Program& program, const Mine& mine, const Event& event,
              Time time, int lane, int other) {
  if (mine.stores && event.stores) {
    const bool at_once = time >= mine.first_event;
    if (mine.access.use != Use::kStore ||
        loses(mine.ins, program.instruction(event.site)) ||
        strength_of(event) == Strength::kStrong ||
        !stores_same(mine, lane, at_once ? other : -1))
      return Verdict::kRace;
    // Where cooperative groups copy for a tile, who has nothing left copies the
    // last word again.
    const bool again =
        mine.copy && !mine.copy->is_bulk() && event.site == mine.ins.site;
    return again ? Verdict::kFine : Verdict::kSameValue;
  }
  const Instruction& theirs = program.instruction(event.site);
  const Instruction& load = mine.stores ? theirs : mine.ins;
  const Instruction& store = mine.stores ? mine.ins : theirs;
  if (load.guess != Guess::kNone && store.strength == Strength::kStrong)
    return of_guess(load.guess, *store.statement);
  if (load.element_bytes != store.element_bytes) return Verdict::kRace;
  const Function& function = program.function_of(load);
  const auto test = function.tests.find(load.site);
  const auto tested = function.tested_stores.find(store.site);
  const bool same = test != function.tests.end() &&
                    tested != function.tested_stores.end() &&
                    ends_the_same(mine, lane, test->second, tested->second);
  return same ? Verdict::kSameEnd : Verdict::kRace;
}

uint32_t keepers(const Program& program, Warp& warp, const Instruction& load) {
  const Function& function = program.function_of(load);
  const Keeper& keeper = function.keepers.at(load.site);
  uint32_t holds = 0;
  if (!keeper.comparison) {
    holds = *lanes<uint32_t>(warp, keeper.place);
  } else {
    const Comparison& compare = *keeper.comparison;
    for (int l = 0; l < kLanes; ++l) {
      const uint64_t a = bits_at(warp, l, keeper.place, compare.bytes);
      const uint64_t b = bits_at(warp, l, compare.with, compare.bytes);
      holds |= uint32_t{answer(compare, a, b)} << l;
    }
  }
  return keeper.value ? holds : ~holds;
}

}  // namespace simt
