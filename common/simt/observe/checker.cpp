#include "common/simt/observe/checker.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>

#include "common/simt/core/grid.h"
#include "common/simt/memory/allocations.h"

namespace simt {
namespace {

// A run of lanes is remembered as one if it covers half a line.
constexpr uint32_t kRunBytes = 64;

// Tables outlive launches: their pages are touched only once.
std::mutex& tables_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}
std::vector<std::unique_ptr<CheckerTables>>& idle_tables() {
  static auto* tables = new std::vector<std::unique_ptr<CheckerTables>>;
  return *tables;
}

std::unique_ptr<CheckerTables> take_tables() {
  const std::lock_guard lock(tables_mutex());
  auto& idle = idle_tables();
  if (idle.empty()) return std::make_unique<CheckerTables>();
  std::unique_ptr<CheckerTables> tables = std::move(idle.back());
  idle.pop_back();
  if (tables->log.full()) return std::make_unique<CheckerTables>();
  tables->releases.clear();
  return tables;
}

size_t entries(size_t bytes, size_t unit) {
  return std::bit_ceil(bytes / unit + 1);
}

std::string triple(const std::array<uint32_t, 3>& v) {
  return "(" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," +
         std::to_string(v[2]) + ")";
}

struct Extent {
  uint64_t begin, end;
};
Extent extent(const Grid& grid, const Program::SharedArray& array) {
  if (array.dynamic)
    return {grid.shared_bytes() - grid.shape.dynamic_shared,
            grid.shared_bytes()};
  return {array.begin, uint64_t{array.begin} + array.bytes};
}

std::string text_of_place(const Grid& grid, Space space, uint64_t address) {
  if (space == Space::kGlobal)
    return "global address " + hex(address) + " (" +
           allocations().describe(address) + ")";
  std::string text = "shared address " + hex(address);
  for (const Program::SharedArray& array : grid.program.shared_arrays) {
    const Extent e = extent(grid, array);
    if (address >= e.begin && address < e.end)
      return text + " (byte " + std::to_string(address - e.begin) + " of " +
             variable_name(array.name) + ")";
  }
  return text;
}

std::array<uint32_t, 3> coordinates(uint64_t number, const unsigned* size) {
  return {static_cast<uint32_t>(number % size[0]),
          static_cast<uint32_t>(number / size[0] % size[1]),
          static_cast<uint32_t>(number / size[0] / size[1])};
}

std::string count_text(uint64_t n, const char* what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

}  // namespace

BlockChecks::BlockChecks(size_t shared_bytes, uint32_t threads)
    : shared(entries(shared_bytes, Shadow::kLineBytes),
             entries(shared_bytes, Shadow::kWordBytes)),
      written_bits(shared_bytes / 64 + 1),
      written(written_bits.data()) {
  for (uint32_t left = threads; left;) {
    const uint32_t lanes = std::min<uint32_t>(left, kLanes);
    order.warps.emplace_back().lanes =
        lanes == kLanes ? kAllLanes : (1u << lanes) - 1;
    left -= lanes;
  }
}

Checker::Checker(const Grid& grid)
    : grid_(grid),
      tables_(take_tables()),
      begin_(tables_->log.now()),
      alone_(grid.threads == 1) {}

Checker::~Checker() {
  const std::lock_guard lock(tables_mutex());
  idle_tables().push_back(std::move(tables_));
}

void Checker::start(Block& block) {
  BlockChecks& checks = *block.checks;
  checks.order.start(static_cast<uint32_t>(block.number), tables_->log.now());
  std::fill(checks.written_bits.begin(), checks.written_bits.end(), 0);
}

void Checker::access(Warp& warp, const Instruction& ins, const Access& a) {
  if (a.space == Space::kShared && ins.array >= 0) check_origin(warp, ins, a);
  check_written(warp, ins, a);
  if (!tables_->log.full()) check_order(warp, ins, a);
}

// ---- A shared array left for its neighbour ---------------------------------

void Checker::check_origin(Warp& warp, const Instruction& ins,
                           const Access& a) {
  const auto& arrays = grid_.program.shared_arrays;
  const Program::SharedArray& array = arrays[ins.array];
  const Extent e = extent(grid_, array);
  uint32_t outside = 0;
  for (int l = 0; l < kLanes; ++l)
    outside |=
        uint32_t{a.address[l] < e.begin || a.address[l] + a.bytes > e.end} << l;
  outside &= a.mask;
  if (!outside) return;
  if (Seen* before = seen("array overrun", ins.site, 0))
    return void(++before->count);
  const int lane = first_lane(outside);
  Finding f = finding_at(
      warp, ins, lane, "array overrun",
      std::string(verb(a.use)) + " of " + std::to_string(a.bytes) +
          " bytes that leaves the " + std::to_string(e.end - e.begin) +
          "-byte shared array " + variable_name(array.name) + " and meets " +
          text_of_place(grid_, Space::kShared, a.address[lane]));
  f.address = a.address[lane];
  report("array overrun", ins.site, 0, std::move(f));
}

// ---- Memory nobody wrote ---------------------------------------------------

void Checker::check_written(Warp& warp, const Instruction& ins,
                            const Access& a) {
  Allocations& all = allocations();
  if (a.space != Space::kGlobal)
    check_written(warp, ins, a, warp.block->checks->written, 0);
  else if (all.in_arena(a.address[first_lane(a.mask)]))
    check_written(warp, ins, a, all.written(), all.arena_begin());
}

// `written` holds bytes by their distance from `origin`.
template <class Set>
void Checker::check_written(Warp& warp, const Instruction& ins, const Access& a,
                            Set& written, uint64_t origin) {
  // What an exchange finds there matters only to who looks at it.
  const bool reads =
      a.use == Use::kLoad || (a.use == Use::kAtomic && !(ins.dst == kNowhere));
  const bool writes = a.use != Use::kLoad;
  if (a.dense) {
    const uint64_t begin = a.address[0] - origin;
    const uint64_t end = begin + uint64_t{a.bytes} * kLanes;
    if (a.use == Use::kStore) return void(written.insert(begin, end));
    if (written.contains(begin, end)) return;
  }
  for (uint32_t rest = a.mask; rest; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const uint64_t begin = a.address[lane] - origin;
    const uint64_t end = begin + a.bytes;
    if ((reads || a.use == Use::kAtomic) && !written.contains(begin, end)) {
      uint64_t missing = begin;
      while (written.contains(missing)) ++missing;
      unwritten(warp, ins, a, lane, missing + origin);
    }
    if (writes) written.insert(begin, end);
  }
}

void Checker::unwritten(Warp& warp, const Instruction& ins, const Access& a,
                        int lane, uint64_t address) {
  if (Seen* before = seen("uninitialised read", ins.site, 0))
    return void(++before->count);
  Finding f =
      finding_at(warp, ins, lane, "uninitialised read",
                 std::string(verb(a.use)) + " of " + std::to_string(a.bytes) +
                     " bytes that nobody has written: " +
                     text_of_place(grid_, a.space, address));
  f.address = address;
  report("uninitialised read", ins.site, 0, std::move(f));
}

// ---- Order: what synchronises ----------------------------------------------

void Checker::collective(Warp& warp, const Instruction& ins, uint32_t mask,
                         uint32_t members) {
  warp.block->checks->order.warps[warp.index].meet(members, tables_->log.now());
  if (!ins.mask_is_active) return;
  if (Seen* before = seen("activemask", ins.site, 0))
    return void(++before->count);
  Finding f = finding_at(
      warp, ins, first_lane(mask), "activemask",
      "the member mask of this collective comes from activemask, which names "
      "the lanes that happen to run together here. The hardware may split or "
      "join them as it likes, so lanes that the algorithm needs can be "
      "missing. Compute the mask from the condition, before the branch: "
      "__ballot_sync(mask, condition)");
  f.note = true;
  report("activemask", ins.site, 0, std::move(f));
}

void Checker::fence(Warp& warp, const Instruction& ins) {
  warp.block->checks->order.fence(warp.index, !ins.for_block,
                                  tables_->log.now());
}

void Checker::pass(Warp& warp, uint32_t barrier) {
  warp.block->checks->order.go(barrier, warp.index);
}

void Checker::arrive(Warp& warp, const Instruction& ins, uint32_t mask,
                     uint32_t number) {
  BlockOrder& block = warp.block->checks->order;
  BarrierOrder& barrier = block.barriers[number];
  const bool counted = ins.b != kNowhere || number >= Block::kBarriers;
  if (counted) block.come(number, warp.index, tables_->log.now());
  if (!barrier.first) {
    barrier.first = &ins;
    barrier.first_warp = warp.index;
    barrier.first_lane = first_lane(mask);
    return;
  }
  if (counted || barrier.first == &ins) return;
  if (Seen* before = seen("different barriers", ins.site, barrier.first->site))
    return void(++before->count);
  Finding f = finding_at(warp, ins, first_lane(mask), "different barriers", "");
  place_other(f, *barrier.first, block.number,
              barrier.first_warp * kLanes + barrier.first_lane);
  f.message = "this barrier is met while thread " + triple(f.other_thread) +
              " waits at another one, at " +
              grid_.program.location(barrier.first->where) +
              ". A barrier must be the same one for all threads of the block";
  report("different barriers", ins.site, barrier.first->site, std::move(f));
}

void Checker::release(Block& block, uint32_t number, bool counted,
                      uint32_t waiting) {
  BlockOrder& order = block.checks->order;
  BarrierOrder& barrier = order.barriers[number];
  if (counted) {
    for (uint32_t rest = waiting; rest; rest &= rest - 1)
      order.go(number, first_lane(rest));
    // Of the cluster's two, those who pass this one later need what it knows.
    BarrierOrder& used =
        number < Block::kBarriers ? barrier : order.barriers[number ^ 1];
    std::fill(used.known.begin(), used.known.end(), 0);
  } else {
    order.meet(tables_->log.now());
    if (block.live != grid_.threads_per_block && barrier.first)
      note_absent(block, *barrier.first);
  }
  barrier.first = nullptr;
}

void Checker::note_absent(Block& block, const Instruction& ins) {
  if (Seen* before = seen("barrier without all", 0, 0))
    return void(++before->count);
  for (const Warp* warp : block.warps) {
    const uint32_t gone = warp->threads & ~warp->live;
    if (!gone) continue;
    Finding f = finding_at(
        *warp, ins, first_lane(gone), "barrier without all",
        "the block's barrier opened without " +
            count_text(grid_.threads_per_block - block.live, "thread") +
            " that had ended before, this one first. It works, because a "
            "barrier waits only for threads that have not ended; it breaks as "
            "soon as such a thread is needed behind the barrier, or leaves "
            "the branch without ending. Let all threads reach it");
    f.note = true;
    return report("barrier without all", 0, 0, std::move(f));
  }
}

bool Checker::ordered(const Mine& mine, const Event& event, Time time, int lane,
                      int other) const {
  if (event.block == mine.block.number) {
    if (time < mine.block.met) return true;
    if (event.warp == mine.warp.index) {
      if (lane == other || time < mine.order.synced) return true;
      if (mine.order.partly && time < (*mine.order.known)[lane][other])
        return true;
    } else if (time < mine.block.known_across(mine.warp.index, event.warp)) {
      return true;
    }
  }
  if (time >= mine.order.acquired[lane]) return false;
  return event.block == mine.block.number
             ? time < mine.block.released[event.warp]
             : tables_->releases.covers(event.block, event.warp, time);
}

// Hands over what a fence has covered, takes over what others have.
void Checker::synchronise(Mine& mine) {
  const Access& a = mine.access;
  const Time now = tables_->log.now();
  if (mine.ins.releases) fence(mine.warp, mine.ins);
  uint64_t last = ~0ull;
  for (uint32_t rest = a.mask; rest; rest &= rest - 1) {
    const int l = first_lane(rest);
    if (a.use != Use::kStore) {
      // With several host threads, each sees its own blocks' releases only.
      const Time released =
          alone_ ? tables_->releases.acquired_at(a.address[l], now) : now;
      if (released) mine.order.acquire(l, released);
    }
    if (mine.stores && mine.order.block_fence.at && a.address[l] != last)
      tables_->releases.release(mine.block, mine.warp.index, a.address[l],
                                now + 1);
    last = a.address[l];
  }
}

// ---- Order: races ----------------------------------------------------------

void Checker::check_order(Warp& warp, const Instruction& ins, const Access& a) {
  BlockChecks& checks = *warp.block->checks;
  const bool shared = a.space == Space::kShared;
  Mine mine{warp,
            ins,
            a,
            checks.order,
            checks.order.warps[warp.index],
            shared ? checks.shared : tables_->global,
            shared ? checks.order.met : begin_,
            tables_->log.now(),
            a.use != Use::kLoad};
  if (ins.strength != Strength::kWeak) synchronise(mine);
  if (a.dense && a.bytes * kLanes >= kRunBytes)
    return check_run(mine, 0, kLanes);
  Time lanes_event = 0;
  for (int l = 0; l < kLanes;) {
    if (!(a.mask >> l & 1)) {
      ++l;
      continue;
    }
    int end = l + 1;
    while (end < kLanes && (a.mask >> end & 1) &&
           a.address[end] == a.address[end - 1] + a.bytes)
      ++end;
    if ((end - l) * a.bytes >= kRunBytes) {
      check_run(mine, l, end - l);
      l = end;
      continue;
    }
    // Of lanes that read the same, the first and the last stand for all.
    const auto same = [&](int other) {
      return other >= 0 && other < kLanes && (a.mask >> other & 1) &&
             a.address[other] == a.address[l];
    };
    if (a.use == Use::kStore || !same(l - 1) || !same(l + 1)) {
      if (!lanes_event) lanes_event = tables_->log.add(event_of(mine, l, 1));
      check_lane(mine, l, lanes_event);
    }
    ++l;
  }
}

Event Checker::event_of(const Mine& mine, int first, int lanes) const {
  Event e;
  e.address = mine.access.address[first];
  e.log_bytes = std::countr_zero(mine.access.bytes);
  e.first_lane = first;
  e.more_lanes = lanes - 1;
  e.strength = static_cast<uint64_t>(mine.ins.strength);
  e.stores = mine.stores;
  e.block = mine.block.number;
  e.warp = mine.warp.index;
  e.site = mine.ins.site;
  return e;
}

void Checker::check_run(Mine& mine, int first, int lanes) {
  const Event event = event_of(mine, first, lanes);
  const Time time = tables_->log.add(event);
  for (uint64_t at = event.begin(); at < event.end();) {
    const uint64_t end = std::min(
        event.end(), (at / Shadow::kLineBytes + 1) * Shadow::kLineBytes);
    Line& line = mine.shadow.line(at);
    for (Time t : line.store)
      if (t >= mine.horizon) against_run(mine, t, event, at, end);
    if (mine.stores)
      for (Time t : line.load)
        if (t >= mine.horizon) against_run(mine, t, event, at, end);
    if (line.words >= mine.horizon) against_words(mine, event, at, end);
    enter_run(mine, mine.stores ? line.store : line.load, time, at, end);
    at = end;
  }
}

void Checker::check_lane(Mine& mine, int lane, Time time) {
  const uint64_t begin = mine.access.address[lane];
  const uint64_t end = begin + mine.access.bytes;
  const Event alone = event_of(mine, lane, 1);
  Line& line = mine.shadow.line(begin);
  for (Time t : line.store)
    if (t >= mine.horizon) against_run(mine, t, alone, begin, end);
  if (mine.stores)
    for (Time t : line.load)
      if (t >= mine.horizon) against_run(mine, t, alone, begin, end);
  line.words = time;
  for (uint64_t at = begin; at < end; at = at / 4 * 4 + 4) {
    Word& word = mine.shadow.word(at);
    const uint64_t bytes = std::min<uint64_t>(end - at, 4 - at % 4);
    const Touch touch{time, static_cast<uint8_t>(lane),
                      static_cast<uint8_t>(((1u << bytes) - 1) << at % 4)};
    against_word(mine, word, touch);
    if (mine.stores)
      word.store = touch;
    else
      enter_load(mine, word, touch);
  }
}

// Two accesses that are no race although nothing orders them?
bool Checker::may_meet(const Mine& mine, const Event& event) const {
  const auto strength = static_cast<Strength>(event.strength);
  const Strength weak = std::min(mine.ins.strength, strength);
  const Strength strong = std::max(mine.ins.strength, strength);
  if (weak == Strength::kWeak) return false;
  if (strong == Strength::kStrong) return true;
  // Volatile data that nobody waits for: the old warp-synchronous style.
  const bool same_warp =
      event.block == mine.block.number && event.warp == mine.warp.index;
  return mine.access.space == Space::kGlobal && !same_warp;
}

// Lanes of `run` (part of my access) against another run, within a line.
void Checker::against_run(Mine& mine, Time time, const Event& run,
                          uint64_t begin, uint64_t end) {
  const Event* other = tables_->log.find(time);
  if (!other) return;
  begin = std::max(begin, other->begin());
  end = std::min(end, other->end());
  if (begin >= end || may_meet(mine, *other)) return;
  if (other->block == run.block) {
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
    if (conflict.found && !conflict.same_value) break;
    const int least = std::min<int>(run.log_bytes, other->log_bytes);
    begin = ((begin >> least) + 1) << least;
  }
  if (conflict.found) race(mine, conflict, *other);
}

// Lanes of `run` against single lanes, within a line.
void Checker::against_words(Mine& mine, const Event& run, uint64_t begin,
                            uint64_t end) {
  for (uint64_t at = begin; at < end;) {
    const uint64_t next =
        std::min<uint64_t>(at / 4 * 4 + 4, at + (1ull << run.log_bytes));
    const uint64_t bytes = next - at;
    if (const Word* word = mine.shadow.find_word(at)) {
      const Touch touch{0, static_cast<uint8_t>(run.lane_at(at)),
                        static_cast<uint8_t>(((1u << bytes) - 1) << at % 4)};
      against_word(mine, *word, touch);
    }
    at = next;
  }
}

void Checker::against_word(Mine& mine, const Word& word, const Touch& touch) {
  const auto against = [&](const Touch& other) {
    if (other.time < mine.horizon || !(other.bytes & touch.bytes)) return;
    const Event* event = tables_->log.find(other.time);
    if (!event || may_meet(mine, *event)) return;
    if (waited(mine, word, touch.lane, *event, other.time)) return;
    Conflict conflict;
    const uint64_t address = word.address * 4 + std::countr_zero<unsigned>(
                                                    other.bytes & touch.bytes);
    compare(mine, conflict, *event, other.time, touch.lane, other.lane,
            address);
    if (conflict.found) race(mine, conflict, *event);
  };
  against(word.store);
  if (mine.stores)
    for (const Touch& load : word.load) against(load);
}

// A volatile store after this thread has waited for the other's store: turns
// that are handed round.
bool Checker::waited(const Mine& mine, const Word& word, int lane,
                     const Event& event, Time time) const {
  if (mine.ins.strength == Strength::kWeak || !event.stores) return false;
  for (const Touch& load : word.load) {
    const Event* e = tables_->log.find(load.time);
    if (load.time > time && e && load.lane == lane &&
        e->block == mine.block.number && e->warp == mine.warp.index &&
        static_cast<Strength>(e->strength) == Strength::kStrong)
      return true;
  }
  return false;
}

void Checker::compare(Mine& mine, Conflict& conflict, const Event& event,
                      Time time, int lane, int other, uint64_t address) const {
  if (ordered(mine, event, time, lane, other)) return;
  const bool same_instruction = time >= mine.first_event;
  const bool both_store = mine.access.use == Use::kStore && event.stores;
  const bool same =
      both_store &&
      static_cast<Strength>(event.strength) != Strength::kStrong &&
      stores_same(mine, lane, same_instruction ? other : -1);
  if (conflict.found && same) return;
  conflict = {lane, other, address, same, true};
}

// Does a lane store what another lane stores by the same instruction, or (-1)
// what is there already?
bool Checker::stores_same(const Mine& mine, int lane, int other) const {
  const Instruction& ins = mine.ins;
  const Access& a = mine.access;
  if (other >= 0 && a.address[lane] != a.address[other]) return false;
  for (int k = 0; k < ins.count; ++k) {
    const uint8_t* values = lanes<uint8_t>(mine.warp, ins.elements[k]);
    const uint8_t* there = other < 0 ? a.at<uint8_t>(lane) + k * ins.size
                                     : values + other * ins.src_bytes;
    if (std::memcmp(values + lane * ins.src_bytes, there, ins.size) != 0)
      return false;
  }
  return true;
}

// Puts a run in place of one that it makes superfluous, or of an old one.
void Checker::enter_run(Mine& mine, Time (&slots)[2], Time time, uint64_t begin,
                        uint64_t end) {
  const uint64_t line = begin / Shadow::kLineBytes * Shadow::kLineBytes;
  const auto superfluous = [&](Time t) {
    if (t < mine.horizon) return true;
    const Event* e = tables_->log.find(t);
    if (!e) return true;
    const bool covered = std::max(line, e->begin()) >= begin &&
                         std::min(line + Shadow::kLineBytes, e->end()) <= end;
    return covered && (mine.stores || (e->block == mine.block.number &&
                                       e->warp == mine.warp.index));
  };
  for (Time& t : slots)
    if (superfluous(t)) return void(t = time);
  // The oldest load stays: it is the one least likely to be ordered.
  Time& loser = mine.stores && slots[0] < slots[1] ? slots[0] : slots[1];
  loser = time;
}

void Checker::enter_load(Mine& mine, Word& word, const Touch& touch) {
  const auto superfluous = [&](const Touch& t) {
    if (t.time < mine.horizon) return true;
    const Event* e = tables_->log.find(t.time);
    return !e || ordered(mine, *e, t.time, touch.lane, t.lane);
  };
  for (Touch& t : word.load)
    if (superfluous(t)) return void(t = touch);
  word.load[1] = touch;
}

// ---- Reports ---------------------------------------------------------------

void Checker::race(const Mine& mine, const Conflict& c, const Event& event) {
  const Instruction& ins = mine.ins;
  const char* kind = c.same_value ? "same value" : "race";
  if (Seen* before = seen(kind, ins.site, event.site))
    return void(++before->count);
  const Instruction& theirs = instruction(event.site);
  Finding f = finding_at(mine.warp, ins, c.lane, kind, "");
  place_other(f, theirs, event.block, event.warp * kLanes + c.other_lane);
  f.address = c.address;
  f.note = c.same_value;
  const bool same_block = event.block == mine.block.number;
  const std::string& op = theirs.statement->name();
  const std::string other =
      "thread " + triple(f.other_thread) +
      (same_block ? "" : " of block " + triple(f.other_block)) +
      (f.other_line ? " at " + grid_.program.location(theirs.where) : "");
  const std::string place = text_of_place(grid_, mine.access.space, c.address);
  if (c.same_value) {
    f.message = "several threads store the same value at " + place +
                ", and nothing orders them: this one and " + other +
                ". It does no harm while the values agree";
  } else {
    const char* remedy =
        !same_block ? "Only atomics, flags behind __threadfence() or another "
                      "launch order blocks"
        : event.warp == mine.warp.index
            ? "Lanes of a warp need __syncwarp() in between, too"
            : "Threads of a block need __syncthreads() in between";
    f.message = std::string(verb(mine.access.use)) + " of " +
                std::to_string(mine.access.bytes) +
                " bytes, and nothing "
                "orders it and the " +
                (op == "st"     ? "write"
                 : event.stores ? "atomic"
                                : "read") +
                " by " + other + ", of " + place + ". " + remedy;
  }
  report(kind, ins.site, event.site, std::move(f));
}

void Checker::place_other(Finding& f, const Instruction& ins, uint32_t block,
                          uint32_t thread) const {
  if (ins.where.line) {
    f.other_file = grid_.program.module->text.files.at(ins.where.file);
    f.other_line = ins.where.line;
  }
  f.other_block = coordinates(block, grid_.shape.grid);
  f.other_thread = coordinates(thread, grid_.shape.block);
  f.has_other = true;
}

const Instruction& Checker::instruction(uint32_t site) {
  if (instructions_.empty()) {
    instructions_.resize(grid_.program.sites);
    for (const auto& [name, function] : grid_.program.functions)
      for (const Instruction& ins : function.code)
        instructions_[ins.site] = &ins;
  }
  return *instructions_[site];
}

Checker::Seen* Checker::seen(const char* kind, uint32_t site, uint32_t other) {
  const auto known = seen_.find({kind, site, other});
  return known == seen_.end() ? nullptr : &known->second;
}

void Checker::report(const char* kind, uint32_t site, uint32_t other,
                     Finding f) {
  const uint64_t number = seen_.size();
  seen_[{kind, site, other}] = {std::move(f), number, 1};
}

void Checker::add(const Checker& other) {
  for (const auto& [key, seen] : other.seen_) {
    const uint64_t number = seen_.size();
    const auto [known, fresh] =
        seen_.try_emplace(key, Seen{seen.finding, number, 0});
    known->second.count += seen.count;
  }
}

std::vector<Finding> Checker::findings() const {
  std::vector<const Seen*> all;
  for (const auto& [key, seen] : seen_) all.push_back(&seen);
  std::sort(all.begin(), all.end(),
            [](const Seen* a, const Seen* b) { return a->number < b->number; });
  std::vector<Finding> out;
  for (const Seen* one : all) {
    // Several instructions of one line are one finding.
    const auto same = std::find_if(out.begin(), out.end(), [&](Finding& f) {
      return f.kind == one->finding.kind && f.file == one->finding.file &&
             f.line == one->finding.line && f.line != 0 &&
             f.other_file == one->finding.other_file &&
             f.other_line == one->finding.other_line;
    });
    Finding& f = same == out.end() ? out.emplace_back(one->finding) : *same;
    f.count += one->count;
  }
  // Who reads too early finds nothing written, or races: a race says more.
  const auto explained = [&](const Finding& f) {
    return f.kind == "uninitialised read" && f.line != 0 &&
           std::any_of(out.begin(), out.end(), [&](const Finding& g) {
             return g.kind == "race" &&
                    ((g.line == f.line && g.file == f.file) ||
                     (g.other_line == f.line && g.other_file == f.file));
           });
  };
  std::vector<Finding> kept;
  std::copy_if(out.begin(), out.end(), std::back_inserter(kept),
               [&](const Finding& f) { return !explained(f); });
  return kept;
}

}  // namespace simt
