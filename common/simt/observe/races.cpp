// Compares an access with those that the shadow of its memory remembers.
#include "common/simt/observe/races.h"

#include <algorithm>
#include <bit>

#include "common/simt/observe/block_checks.h"

namespace simt {
namespace {

// A run of lanes is remembered as one if it covers half a line.
constexpr uint32_t kRunBytes = 64;
// What so many lanes touch here and there is fetched for all of them before the
// first needs it.
constexpr int kScattered = 8;

}  // namespace

Races::Races(const Grid& grid, Found& found)
    : grid_(grid), found_(found), flags_(grid, *tables_), begin_(now()) {}

Mine Races::mine_of(Warp& warp, const Instruction& ins, const Access& a) {
  BlockChecks& checks = *warp.block->checks;
  const bool shared = a.space == Space::kShared;
  BlockChecks& owner = shared && a.owner ? *a.owner->checks : checks;
  // What other blocks did is not ordered by the block's own barriers.
  const Time met =
      checks.order.cluster.empty() ? checks.order.met : owner.order.began;
  return {warp,
          ins,
          a,
          checks.order,
          checks.order.warps[warp.index],
          shared ? owner.shared : tables_->global,
          shared ? met : begin_,
          now(),
          a.use != Use::kLoad};
}

void Races::check(Mine& mine) {
  const Access& a = mine.access;
  if (a.dense && a.bytes * kLanes >= kRunBytes)
    return check_run(mine, 0, kLanes);
  // Of lanes that read the same, the first and the last stand for all.
  const uint32_t like_both =
      a.is_one_place() ? a.mask & (a.mask - 1) & ~std::bit_floor(a.mask)
                       : a.same & a.mask << 1 & (a.same & a.mask) >> 1;
  const uint32_t lanes = a.use == Use::kStore ? a.mask : a.mask & ~like_both;
  if (std::popcount(lanes & ~a.next) >= kScattered)
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
      mine.shadow.prefetch(a.address[first_lane(rest)]);
  Time lanes_event = 0;
  a.each_span(lanes, a.next, [&](const Access::Span& s) {
    if (s.lanes * a.bytes >= kRunBytes)
      return check_run(mine, s.first, s.lanes);
    if (!lanes_event)
      lanes_event = tables_->log.add(event_of(mine, s.first, 1));
    for (int l = s.first; l < s.first + s.lanes; ++l)
      check_lane(mine, l, lanes_event);
  });
}

void Races::check_run(Mine& mine, int first, int lanes) {
  const Event event = event_of(mine, first, lanes);
  const Time time = tables_->log.add(event);
  for (uint64_t at = event.begin(); at < event.end();) {
    const uint64_t end = std::min(
        event.end(), (at / Shadow::kLineBytes + 1) * Shadow::kLineBytes);
    Line& line = mine.shadow.line(at);
    against_runs(mine, line, event, at, end);
    if (line.words >= mine.horizon) against_words(mine, event, at, end);
    const auto slots =
        mine.stores ? std::span<Time>(line.store) : std::span<Time>(line.load);
    if (mine.enters) enter_run(mine, slots, time, at, end);
    at = end;
  }
}

void Races::check_lane(Mine& mine, int lane, Time time) {
  const uint64_t begin = mine.access.address[lane];
  const uint64_t end = begin + mine.access.bytes;
  const Event alone = event_of(mine, lane, 1);
  Line& line = mine.shadow.line(begin);
  against_runs(mine, line, alone, begin, end);
  if (mine.enters) line.words = time;
  each_word(begin, end, [&](uint64_t at, uint8_t bytes) {
    Word& word = mine.shadow.word(at);
    const Touch touch{time, static_cast<uint8_t>(lane), bytes};
    against_word(mine, word, at, touch);
    if (mine.enters) enter_lane(mine, word, touch);
  });
}

// Lanes of `run` (part of my access) against other runs, within a line.
void Races::against_runs(Mine& mine, const Line& line, const Event& run,
                         uint64_t begin, uint64_t end) {
  for (Time t : line.store)
    if (t >= mine.horizon) against_run(mine, t, run, begin, end);
  if (!mine.stores) return;
  for (Time t : line.load)
    if (t >= mine.horizon) against_run(mine, t, run, begin, end);
}

void Races::against_run(Mine& mine, Time time, const Event& run, uint64_t begin,
                        uint64_t end) {
  const Event* other = tables_->log.find(time);
  if (!other) return;
  begin = std::max(begin, other->begin());
  end = std::min(end, other->end());
  if (begin >= end || may_meet(mine, *other)) return;
  if (other->block == run.block && !is_stale(mine, *other)) {
    if (time < mine.block.met) return;
    if (other->warp == run.warp &&
        (time < mine.order.synced ||
         other->lane_at(begin) == run.lane_at(begin)) &&
        other->log_bytes == run.log_bytes)
      return;
  }
  Conflict conflict;
  while (begin < end) {
    compare(mine, conflict, *other, time, run.lane_at(begin),
            other->lane_at(begin), begin);
    if (conflict.verdict == Verdict::kRace) break;
    const int least = std::min<int>(run.log_bytes, other->log_bytes);
    begin = ((begin >> least) + 1) << least;
  }
  if (conflict.verdict != Verdict::kFine) report(mine, conflict, *other, time);
}

// Lanes of `run` against single lanes, within a line.
void Races::against_words(Mine& mine, const Event& run, uint64_t begin,
                          uint64_t end) {
  for (uint64_t at = begin; at < end;) {
    const uint64_t next =
        std::min<uint64_t>(at / 4 * 4 + 4, at + (1ull << run.log_bytes));
    if (const Word* word = mine.shadow.find_word(at)) {
      const Touch touch{0, static_cast<uint8_t>(run.lane_at(at)),
                        bytes_of_word(at, next)};
      against_word(mine, *word, at, touch);
    }
    at = next;
  }
}

void Races::against_word(Mine& mine, const Word& word, uint64_t at,
                         const Touch& touch) {
  const int slots = mine.stores ? Word::kSlots : Word::kLoad;
  for (int k = 0; k < slots; ++k) {
    const Touch other = word.at(k);
    if (other.time < mine.horizon || !(other.bytes & touch.bytes)) continue;
    const Event* event = tables_->log.find(other.time);
    if (!event || may_meet(mine, *event)) continue;
    if (!needs_first(mine, *event) &&
        (waited(mine, word, *event, other.time, touch.lane) ||
         counted(mine, word, *event, other.time, touch.lane)))
      continue;
    Conflict conflict;
    const uint64_t address =
        at / 4 * 4 + std::countr_zero<unsigned>(other.bytes & touch.bytes);
    compare(mine, conflict, *event, other.time, touch.lane, other.lane,
            address);
    if (conflict.verdict == Verdict::kFine) continue;
    if (is_clash(mine, *event))
      enter_clash(mine, conflict, *event, other.time,
                  other.bytes & touch.bytes);
    else
      report(mine, conflict, *event, other.time);
  }
}

void Races::compare(Mine& mine, Conflict& conflict, const Event& event,
                    Time time, int lane, int other, uint64_t address) {
  if (told(mine, event, time)) return;
  const bool stale = is_stale(mine, event);
  if (!stale && ordered(mine, event, time, lane, other)) return;
  const Verdict verdict =
      stale ? Verdict::kRace
            : judge(grid_.program, mine, event, time, lane, other);
  if (verdict > conflict.verdict) conflict = {verdict, lane, other, address};
}

// ---- Stores that nobody may read -------------------------------------------

// Of a cluster, other blocks may read them, too.
bool Races::is_clash(const Mine& mine, const Event& event) const {
  const auto is_plain = [](const Instruction& ins) {
    return ins.strength == Strength::kWeak && ins.statement->name() == "st";
  };
  return mine.access.space == Space::kShared && mine.block.cluster.empty() &&
         is_plain(mine.ins) && is_plain(instruction(event));
}

void Races::enter_clash(const Mine& mine, const Conflict& conflict,
                        const Event& event, Time time, uint8_t bytes) {
  mine.warp.block->checks->clashes.enter(
      {&mine.warp, &mine.ins, mine.access, conflict, event, time,
       event.warp == mine.warp.index, now(), bytes});
}

void Races::settle_clashes(const Warp& warp, const Access& a) {
  BlockChecks& checks = *warp.block->checks;
  checks.clashes.settle(warp, a, checks.order, [&](const Clash& clash) {
    report(mine_of(*clash.warp, *clash.ins, clash.access), clash.conflict,
           clash.other, clash.other_time);
  });
}

}  // namespace simt
