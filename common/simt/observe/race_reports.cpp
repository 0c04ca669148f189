// Puts a race into words: who meets whom, where, and what would order them.
#include "common/simt/core/finding.h"
#include "common/simt/observe/known_kernels.h"
#include "common/simt/observe/places.h"
#include "common/simt/observe/races.h"

namespace simt {

namespace {

const char* kind_of(Verdict verdict) {
  return verdict == Verdict::kRace    ? "race"
         : verdict == Verdict::kGuess ? "guess"
                                      : "same value";
}

const char* noun_of(const Instruction& ins, const Event& event) {
  const Statement& done = *ins.statement;
  if (done.name() == "cp") return "asynchronous copy";
  const bool writes =
      done.stores() ||
      (done.name() == "mbarrier" && ins.strength == Strength::kWeak) ||
      (done.name() == "tensormap" && event.stores);
  return writes ? "write" : event.stores ? "atomic" : "read";
}

constexpr std::string_view kUpdate =
    ". If all threads are to change the word, what one does between another's "
    "read and write is lost: let atomicAdd or its kin do both at once";

// Of `*p += 1`: a line reads and writes by the same pointer.
bool is_update(const Instruction& one, const Instruction& two) {
  const auto loads = [](const Instruction& a, const Instruction& b) {
    return a.statement->name() == "ld" && b.statement->name() == "st";
  };
  if (!(loads(one, two) || loads(two, one)) ||
      one.where.file != two.where.file || one.where.line != two.where.line ||
      one.where.line == 0)
    return false;
  const Address &a = one.address(), &b = two.address();
  return a.base == b.base && a.offset == b.offset;
}

}  // namespace

void Races::report(const Mine& mine, const Conflict& c, const Event& event,
                   Time time) {
  if (has_looked_back(grid_.program, mine, event)) return;
  const char* const kind = kind_of(c.verdict);
  const bool is_race = c.verdict == Verdict::kRace;
  if (found_.again(kind, mine.ins.site, event.site)) {
    if (is_race)
      found_.widen(kind, mine.ins.site, event.site,
                   remedy(mine, c, event, time));
    return;
  }
  Finding f = finding_at(mine.warp, mine.ins, c.lane, kind, "");
  place_other(grid_, f, instruction(event), event.block,
              event.warp * kLanes + c.other_lane);
  f.address = c.address;
  f.note = !is_race;
  f.message = message(mine, c, event, f);
  if (is_race) f.remedy = f.widest = remedy(mine, c, event, time);
  if (is_race && (loses(mine.ins, instruction(event)) ||
                  is_update(mine.ins, instruction(event))))
    f.besides = kUpdate;
  found_.add(kind, mine.ins.site, event.site, std::move(f));
}

std::string Races::message(const Mine& mine, const Conflict& c,
                           const Event& event, const Finding& finding) const {
  const std::string other = other_access(mine, event, finding);
  const std::string place = place_of(mine, c.address);
  if (c.verdict == Verdict::kSameValue)
    return "several threads store the same value at " + place +
           ", and nothing orders them: this one and " + other +
           ". It does no harm as long as the values are equal, and none "
           "depends on what was there before";
  const std::string both = std::string(verb(mine.access.use)) + " of " +
                           std::to_string(mine.access.bytes) +
                           " bytes, and nothing orders it and " + other +
                           ", of " + place + ". ";
  if (c.verdict == Verdict::kSameEnd)
    return both +
           "The read only tests the word: whichever comes first, the test "
           "decides the same, or its thread writes the same. It does no harm "
           "as long as the values are equal";
  if (c.verdict == Verdict::kGuess)
    return both +
           "The value goes into a compare-and-swap, which fails if the value "
           "is old. But the value may also decide that there is no swap. That "
           "does no harm if an old value decides the same";
  return both;
}

std::string Races::other_access(const Mine& mine, const Event& event,
                                const Finding& f) const {
  const Instruction& theirs = instruction(event);
  std::string text = std::string("the ") + noun_of(theirs, event) +
                     " by thread " + triple(f.other_thread);
  if (event.block != mine.block.number)
    text += " of block " + triple(f.other_block);
  return text + at_place(grid_, theirs);
}

std::string Races::place_of(const Mine& mine, uint64_t address) const {
  const std::string place = text_of_place(grid_, mine.access.space, address);
  if (mine.access.space != Space::kShared || !mine.access.owner) return place;
  return place + " of block " +
         triple(coordinates(mine.access.owner->number, grid_.shape.grid));
}

Remedy Races::remedy(const Mine& mine, const Conflict& c, const Event& event,
                     Time time) const {
  const bool same_block = event.block == mine.block.number;
  const bool both_strong = mine.ins.strength == Strength::kStrong &&
                           strength_of(event) == Strength::kStrong;
  if (is_stale(mine, event))
    return {Remedy::kNever,
            "A read by __ldg(), a const __restrict__ pointer, a texture or a "
            "surface may return what was there before the kernel began: a "
            "kernel must not write what it reads in this way, and no barrier "
            "helps"};
  if (needs_first(mine, event) && strength_of(event) != Strength::kWeak &&
      mine.ins.strength != Strength::kWeak)
    return {Remedy::kNone,
            mine.ins.waits || mine.ins.acquires || instruction(event).releases
                ? "Nobody had written there before, so it may find anything: a "
                  "flag needs a value before the kernel begins"
                : "Nobody had written there before, so it may find nothing. "
                  "Other blocks see volatile stores in any order: who writes "
                  "needs a __threadfence() before the flag that announces it"};
  if (both_strong && !same_block && !loses(mine.ins, instruction(event)))
    return {Remedy::kNone,
            "Other blocks see no atomic in what is atomic for a block alone"};
  if (!same_block && mine.access.space == Space::kShared)
    return {Remedy::kNone,
            "The cluster's barrier orders its blocks, and so do mbarriers"};
  if (mine.order.taught && handed_over(mine, event, time, c.other_lane,
                                       mine.order.read[c.lane].of(event.block)))
    return {Remedy::kNone,
            "Who has seen a flag needs a __threadfence(), too, before it reads "
            "what the flag announces"};
  if (!same_block)
    return {Remedy::kBlocks,
            "Only atomics, flags after __threadfence() or another launch order "
            "blocks"};
  return remedy_in_block(mine, event);
}

Remedy Races::remedy_in_block(const Mine& mine, const Event& event) const {
  const bool alike = mine.ins.statement->is_atomic() ==
                     instruction(event).statement->is_atomic();
  if (event.warp == mine.warp.index)
    return {Remedy::kLanes,
            alike ? "Lanes of a warp need __syncwarp() in between, too"
                  : "Lanes of a warp need __syncwarp() in between, too, unless "
                    "both are atomic"};
  return {Remedy::kWarps,
          alike ? "Threads of a block need __syncthreads() in between"
                : "Threads of a block need __syncthreads() in between, unless "
                  "both are atomic"};
}

}  // namespace simt
