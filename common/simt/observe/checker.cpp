// Finds races, unwritten memory, overruns of shared arrays.
#include "common/simt/observe/checker.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>

#include "common/simt/core/grid.h"
#include "common/simt/core/names.h"
#include "common/simt/memory/allocations.h"
#include "common/simt/observe/overlaps.h"
#include "common/simt/observe/places.h"

namespace simt {
namespace {

// A run of lanes is remembered as one if it covers half a line.
constexpr uint32_t kRunBytes = 64;

// Of a block, in a MiB.
constexpr size_t kPostponed = 2048;

// A kernel that stores where it has loaded mostly does so from the beginning:
// so many stores are looked at for it at once.
constexpr int kEarly = 256;

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

// A fence that other blocks know of. One for the cluster counts for all.
bool is_for_others(const Instruction& ins, const BlockOrder& block) {
  return !ins.for_block && !(ins.for_cluster && block.cluster.empty());
}

std::string count_text(uint64_t n, const char* what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

}  // namespace

BlockChecks::BlockChecks(size_t shared_bytes, uint32_t threads)
    : shared(entries(shared_bytes, Shadow::kLineBytes),
             entries(shared_bytes, Shadow::kWordBytes)),
      written_bits(shared_bytes / 64 + 1),
      written(written_bits.data()),
      busy_bits(written_bits.size()),
      busy(busy_bits.data()),
      values((threads + kLanes - 1) / kLanes) {
  for (uint32_t left = threads; left;) {
    const uint32_t lanes = std::min<uint32_t>(left, kLanes);
    order.warps.emplace_back().lanes =
        lanes == kLanes ? kAllLanes : (1u << lanes) - 1;
    left -= lanes;
  }
}

Checker::Checker(const Grid& grid)
    : grid_(grid),
      values_(*this, grid),
      tables_(take_tables()),
      begin_(tables_->log.now()),
      alone_(grid.threads == 1),
      watches_(std::ranges::any_of(
          grid.program.functions,
          [](const auto& one) { return !one.second.waits.empty(); })),
      loads_apart_(grid.undo && grid.loads_apart) {
  if (grid.shape.operation || grid.undo)
    trails_ = std::make_unique<Trails>(grid);
  if (grid.undo) keeper_.emplace(*grid.undo);
}

Checker::~Checker() {
  const std::lock_guard lock(tables_mutex());
  idle_tables().push_back(std::move(tables_));
}

void Checker::start(Block& block) {
  BlockChecks& checks = *block.checks;
  checks.order.start(static_cast<uint32_t>(block.number), tables_->log.now());
  std::fill(checks.written_bits.begin(), checks.written_bits.end(), 0);
  std::fill(checks.busy_bits.begin(), checks.busy_bits.end(), 0);
  checks.postponed.clear();
  checks.postpones = block.cluster.empty();
  checks.clashes.clear();
  checks.copies.clear();
  checks.waits.clear();
  checks.waited.assign(checks.order.warps.size(), 0);
  checks.lets_next_begin = false;
  values_.start(block);
  // What follows in the last word is the program's, but none of its arrays'.
  checks.written.insert(grid_.shared_end(), grid_.shared_words_end());
  // What is there at first is the system's business.
  if (grid_.reserves_shared())
    checks.written.insert(grid_.reserved_begin(), grid_.all_shared());
  if (block.cluster.empty()) return;
  std::vector<BlockOrder*> orders;
  for (Block* one : block.cluster) orders.push_back(&one->checks->order);
  checks.order.join(orders, block.rank);
}

void Checker::access(Warp& warp, const Instruction& ins, const Access& a) {
  if (a.space == Space::kShared && a.operand.array >= 0)
    check_origin(warp, ins, a);
  if (trails_ && a.space == Space::kGlobal) [[unlikely]]
    note_trail(warp, ins, a, ins.dropped ? keepers(warp, ins) : kAllLanes);
  values_.access(warp, ins, a);
  if (tables_->log.full()) return;
  if (loads_apart_ && a.space == Space::kGlobal &&
      (a.use == Use::kLoad || ins.commutes))
    return;
  if (ins.strength == Strength::kWeak && is_reserved(a)) return;
  if (ins.dropped) {
    Access kept = a;
    kept.mask &= keepers(warp, ins);
    kept.dense &= kept.mask == kAllLanes;
    settle_clashes(warp, kept);
    if (kept.mask) check_order(warp, ins, kept);
  } else {
    settle_clashes(warp, a);
    check_order(warp, ins, a);
  }
  if (grid_.shape.kin && a.space == Space::kGlobal) check_kin(warp, ins, a);
  if (a.space == Space::kShared && a.owner) note_visit(warp, ins, a);
}

// The system's own code goes there, as cooperative groups': its shuffles hand
// on what PTX says they do not. Its flags order what the program does.
bool Checker::is_reserved(const Access& a) const {
  return a.space == Space::kShared && grid_.reserves_shared() &&
         a.address[first_lane(a.mask)] >= grid_.reserved_begin();
}

// ---- Grids that launch one another ------------------------------------------

Moment Checker::moment(const Warp& warp, int lane) const {
  const WarpOrder& order = warp.block->checks->order.warps[warp.index];
  return {static_cast<uint32_t>(warp.block->number), tables_->log.now(),
          order.lessons(1u << lane)};
}

void Checker::check_kin(Warp& warp, const Instruction& ins, const Access& a) {
  const Mine mine = mine_of(warp, ins, a);
  Kin& kin = *grid_.shape.kin;
  Kin::Touch touch{&ins, grid_.shape.member,
                   static_cast<uint32_t>(warp.block->number),
                   tables_->log.now() - 1};
  touch.stores = mine.stores;
  const uint32_t mask = ins.dropped ? a.mask & keepers(warp, ins) : a.mask;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const int lane = first_lane(rest);
    touch.thread = static_cast<uint16_t>(warp.index * kLanes + lane);
    const uint64_t begin = a.address[lane];
    each_word(begin, begin + a.bytes, [&](uint64_t at, uint8_t bytes) {
      touch.bytes = bytes;
      kin.enter(at / 4, touch, [&](const Kin::Touch& other) {
        against_kin(mine, lane, at, other);
      });
    });
  }
}

void Checker::against_kin(const Mine& mine, int lane, uint64_t address,
                          const Kin::Touch& other) {
  const Kin& kin = *grid_.shape.kin;
  const Instruction& ins = mine.ins;
  const bool both_strong =
      ins.strength != Strength::kWeak && other.ins->strength != Strength::kWeak;
  const bool guesses =
      ins.guess != Guess::kNone || other.ins->guess != Guess::kNone;
  if (both_strong || guesses || kin.is_before(other, grid_.shape.member))
    return;
  const bool same_value = other.stores && mine.access.use == Use::kStore &&
                          other.ins->strength == Strength::kWeak &&
                          stores_same(mine, lane, -1);
  if (!same_value) race_of_kin(mine, lane, address, other);
}

void Checker::race_of_kin(const Mine& mine, int lane, uint64_t address,
                          const Kin::Touch& other) {
  const Kin& kin = *grid_.shape.kin;
  constexpr char kKind[] = "race between grids";
  const Relative& them = kin.relative(other.member);
  const Program& program = *them.kernel->program;
  // Sites are numbers of each kernel's own.
  const auto key = static_cast<uint32_t>(other.ins->site ^ program.sites);
  if (Seen* before = seen(kKind, mine.ins.site, key))
    return void(++before->count);
  Finding f = finding_at(mine.warp, mine.ins, lane, kKind, "");
  f.address = address;
  f.has_other = true;
  f.other_block = coordinates(other.block, them.blocks);
  f.other_thread = coordinates(other.thread, them.threads);
  const SourceLine where = other.ins->where;
  if (where.line) {
    f.other_file = program.module->text.files.at(where.file);
    f.other_line = where.line;
  }
  const bool is_parent =
      kin.meeting(grid_.shape.member, other.member).at == other.member;
  f.message =
      std::string(verb(mine.access.use)) + " of " +
      std::to_string(mine.access.bytes) + " bytes, and nothing orders it and " +
      "the " + (other.stores ? "write" : "read") + " by thread " +
      triple(f.other_thread) + " of block " + triple(f.other_block) + " of " +
      them.kernel->name + (where.line ? " at " + program.location(where) : "") +
      ", of " + text_of_place(grid_, mine.access.space, address) + ". " +
      (is_parent
           ? "A child may run as soon as it is launched. It comes behind what "
             "the launching thread did before, and what other threads of its "
             "block did before a __syncthreads() in front of the launch. A "
             "launch into cudaStreamTailLaunch comes behind all of the parent"
           : "Grids that a kernel launches wait for one another in the same "
             "stream of the same block, or by events");
  report(kKind, mine.ins.site, key, std::move(f));
}

// ---- Other work -------------------------------------------------------------

void Checker::note_trail(const Warp& warp, const Instruction& ins,
                         const Access& a, uint32_t mask) {
  const bool meets_host = warp.block->meets_host;
  if (keeper_) return note_for_undo(warp, ins, a, mask);
  Operation& operation = *grid_.shape.operation;
  if (!meets_host && !operation.everything) return;
  if (meets_host && !operation.meets_host) operation.meets_host = true;
  if (meets_host && ins.strength != Strength::kWeak) note_flag(a);
  note_parts(warp, ins, a, a.mask & mask);
}

// Apart: by lanes for which the kernel in front may not be done yet.
void Checker::note_parts(const Warp& warp, const Instruction& ins,
                         const Access& a, uint32_t mask) {
  const uint32_t early = early_lanes(warp, mask);
  trails_->note(warp, ins, a, mask & ~early);
  if (early) trails_->note(warp, ins, a, early, true);
}

uint32_t Checker::early_lanes(const Warp& warp, uint32_t mask) {
  if (!grid_.shape.begins_early) return 0;
  BlockChecks& checks = *warp.block->checks;
  uint32_t& waited = checks.waited[warp.index];
  for (uint32_t rest = mask & ~waited; rest; rest &= rest - 1) {
    const int lane = first_lane(rest);
    if (std::ranges::any_of(checks.waits, [&](const BlockChecks::Wait& wait) {
          return comes_behind(warp, lane, wait);
        }))
      waited |= 1u << lane;
  }
  return mask & ~waited;
}

// By a barrier, a collective or a flag. What was learned from another block by
// flags may have come behind its wait: nothing is said then.
bool Checker::comes_behind(const Warp& warp, int lane,
                           const BlockChecks::Wait& wait) const {
  const BlockOrder& block = warp.block->checks->order;
  const WarpOrder& order = block.warps[warp.index];
  return order.taught || wait.time < block.met ||
         wait.time < block.known_across(warp.index, wait.warp) ||
         wait.time < order.heard_of(lane, wait.warp * kLanes + wait.lane) ||
         (wait.warp == warp.index &&
          wait.time < order.known_of(lane, wait.lane));
}

void Checker::wait_for_front(Warp& warp, uint32_t mask) {
  if (!grid_.shape.begins_early) return;
  enter_postponed(*warp.block);
  BlockChecks& checks = *warp.block->checks;
  if (mask & ~checks.waited[warp.index])
    checks.waits.push_back(
        {warp.index, first_lane(mask), tables_->log.add(Event{})});
  checks.waited[warp.index] |= mask;
}

void Checker::let_next_begin(Warp& warp, uint32_t mask) {
  handover_.before_it_ends = true;
  if (early_lanes(warp, mask)) warp.block->checks->lets_next_begin = true;
}

// The launch is taken back if this meets what another host thread's blocks do;
// and if it concerns more than device memory.
void Checker::note_for_undo(const Warp& warp, const Instruction& ins,
                            const Access& a, uint32_t mask) {
  if (loads_apart_ && a.use == Use::kLoad)
    trails_->note_load(a, a.mask & mask);
  else if (is_compared(grid_))
    note_parts(warp, ins, a, a.mask & mask);
  else
    trails_->note_place(ins, a, a.mask & mask);
  if (a.use != Use::kLoad) {
    a.each_span([&](const Access::Span& s) { keeper_->keep(s.begin, s.end); });
    if (loads_apart_ && early_stores_ < kEarly) {
      ++early_stores_;
      if (trails_->has_loaded(a)) grid_.undo->give_up_for_loads();
    }
  }
  if (warp.block->meets_host ||
      !allocations().in_arena(a.address[first_lane(a.mask)]))
    grid_.undo->give_up();
}

// Constants are what the host makes them: a launch that comes again may find
// others, and work in another stream may change them meanwhile.
void Checker::private_access(Warp& warp, const Instruction& ins,
                             const Access& a) {
  if (a.space == Space::kConst) {
    if (keeper_) trails_->note_load(a, a.mask);
    if (is_compared(grid_)) note_parts(warp, ins, a, a.mask);
  }
  values_.access(warp, ins, a);
}

// All of it counts as loaded: who can tell where its filters look?
void Checker::texture(const Texture& texture) {
  if (!keeper_ || texture_ == &texture) return;
  texture_ = &texture;
  const auto note = [&](const Image& image) {
    const auto memory = allocations().find(image.address);
    if (!memory || !memory->is_device_only()) grid_.undo->give_up();
    trails_->note_loads(image.address, image.address + image.bytes());
  };
  note(texture.image);
  for (const Image& level : texture.levels) note(level);
}

// Written, by a surface, or (null) read.
void Checker::texel(Warp& warp, const Instruction& ins, int lane,
                    uint64_t address, uint32_t bytes, const uint8_t* written) {
  if (tables_->log.full() || (loads_apart_ && !written)) return;
  static const Address kTexel{kNowhere, Space::kGlobal};
  Access a(kTexel, bytes, written ? Use::kStore : Use::kLoad);
  a.base = reinterpret_cast<uint8_t*>(allocations().distance(address));
  a.mask = 1u << lane;
  a.address[lane] = address;
  a.staged = written ? written - lane * kMatrixBytes : nullptr;
  check_order(warp, ins, a);
}

void Checker::note_trail(const AsyncCopy& copy) {
  Operation& operation = *grid_.shape.operation;
  const bool meets_host = copy.warp->block->meets_host;
  if (!meets_host && !operation.everything) return;
  if (meets_host) operation.meets_host = true;
  for (const Access* a : {copy.from ? &*copy.from : nullptr, &copy.to})
    if (a && a->space == Space::kGlobal && !copy.reduction)
      trails_->note_copy(*copy.ins, *a, early_lanes(*copy.warp, a->mask));
}

// It may be one between the kernel and the host.
void Checker::note_flag(const Access& a) {
  Operation& operation = *grid_.shape.operation;
  if (operation.speaks) return;
  const auto found = allocations().find(a.address[first_lane(a.mask)]);
  if (found && !found->is_device_only()) overlaps().speak(operation);
}

Footprint Checker::footprint() {
  return trails_ ? trails_->footprint() : Footprint{};
}

TouchedBytes Checker::loaded() { return trails_->loaded(); }

// ---- Another block's shared memory ------------------------------------------

// It must be there: its block has begun; and it must not end before it knows
// of this.
void Checker::note_visit(Warp& warp, const Instruction& ins, const Access& a) {
  const BlockOrder& mine = warp.block->checks->order;
  BlockOrder& theirs = a.owner->checks->order;
  theirs.visit_of(mine, warp.index) = {tables_->log.now() - 1, &warp, &ins,
                                       first_lane(a.mask)};
  const auto& known = mine.in_cluster[warp.index];
  const bool any_known =
      std::any_of(known.begin(), known.end(), [](Time t) { return t != 0; });
  if (warp.block->met_cluster || any_known) return;
  if (Seen* before = seen("block not begun", ins.site, 0))
    return void(++before->count);
  report("block not begun", ins.site, 0,
         finding_at(
             warp, ins, first_lane(a.mask), "block not begun",
             std::string(verb(a.use)) + " of " +
                 text_of_place(grid_, a.space, a.address[first_lane(a.mask)]) +
                 " of block " +
                 triple(coordinates(a.owner->number, grid_.shape.grid)) +
                 ", and nothing says that this block has begun. Let all "
                 "threads of the cluster meet at its barrier first"));
}

void Checker::end(Block& block) {
  const BlockOrder& order = block.checks->order;
  tables_->releases.forget_shared(order.number);
  if (!block.checks->waits.empty() && !block.checks->lets_next_begin)
    handover_.waits_first = true;
  for (size_t k = 0; k < order.visits.size(); ++k) {
    const Visit& visit = order.visits[k];
    if (visit.time == 0 || order.knows_visit(k)) continue;
    if (Seen* before = seen("block ended", visit.ins->site, 0)) {
      ++before->count;
      continue;
    }
    report("block ended", visit.ins->site, 0,
           finding_at(*visit.warp, *visit.ins, visit.lane, "block ended",
                      "it touches the shared memory of block " +
                          triple(coordinates(block.number, grid_.shape.grid)) +
                          ", which may have ended before: nothing makes it "
                          "wait. Let all threads of the cluster meet at its "
                          "barrier behind this"));
  }
}

// ---- A shared array left for its neighbour ---------------------------------

void Checker::check_origin(Warp& warp, const Instruction& ins,
                           const Access& a) {
  const auto& arrays = grid_.program.shared_arrays;
  const Program::SharedArray& array = arrays[a.operand.array];
  const Extent e = extent(grid_, array);
  if (a.is_within(e.begin, e.end)) return;
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

void Checker::unknown_conversion(const Warp& warp, const Instruction& ins,
                                 int lane, std::string conversion) {
  const char* const kind = "unknown conversion";
  if (Seen* before = seen(kind, ins.site, 0)) return void(++before->count);
  std::string message = "a GPU's printf does not know " + conversion +
                        ". It takes one argument less than there are, and "
                        "prints what lies elsewhere. The argument is an int "
                        "anyway: use ";
  std::erase(conversion, 'h');
  report(kind, ins.site, 0,
         finding_at(warp, ins, lane, kind, message + conversion));
}

// ---- Order: what synchronises ----------------------------------------------

void Checker::collective(Warp& warp, const Instruction& ins, uint32_t mask,
                         uint32_t members) {
  // Shuffles, votes and their kin hand over values and order no memory.
  if (ins.orders) {
    enter_postponed(*warp.block);
    warp.block->checks->order.warps[warp.index].meet(members,
                                                     tables_->log.now());
  }
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

// What it orders is told apart: no flag is set, and none is read.
void Checker::mbarrier(Warp& warp, const Instruction& ins, const Access& a) {
  enter_postponed(*warp.block);
  values_.access(warp, ins, a);
  if (tables_->log.full()) return;
  Mine mine = mine_of(warp, ins, a);
  if (!warp.block->copies.empty() || a.owner) against_copies(mine);
  check_order(mine);
  if (a.owner) note_visit(warp, ins, a);
}

void Checker::hand_over(Warp& warp, const Access& barriers, int lane) {
  enter_postponed(*warp.block);
  const uint64_t barrier = barriers.address[lane];
  const Time now = tables_->log.now();
  BlockOrder& mine = warp.block->checks->order;
  BlockOrder& theirs = barriers.owner ? barriers.owner->checks->order : mine;
  if (&theirs == &mine) mine.hand_over(barrier, warp.index, 1u << lane, now);
  if (!mine.cluster.empty()) theirs.tell(barrier, mine, warp.index, now);
}

void Checker::fence(Warp& warp, const Instruction& ins, uint32_t mask) {
  enter_postponed(*warp.block);
  BlockOrder& block = warp.block->checks->order;
  if (trails_ && warp.block->meets_host && ins.statement->has("sys"))
    overlaps().speak(*grid_.shape.operation);
  block.fence(warp.index, mask, is_for_others(ins, block), tables_->log.now());
  block.understand(warp.index, mask, is_for_others(ins, block));
}

void Checker::fence_for_copies(Warp& warp) {
  enter_postponed(*warp.block);
  warp.block->checks->order.fenced_for_copies = tables_->log.now();
}

void Checker::fence_inits(Warp& warp) {
  warp.block->checks->order.fenced_inits = tables_->log.now();
}

void Checker::arrive_relaxed(Warp& warp, uint32_t barrier) {
  enter_postponed(*warp.block);
  warp.block->checks->order.come_relaxed(barrier, warp.index);
}

void Checker::pass(Warp& warp, uint32_t barrier) {
  enter_postponed(*warp.block);
  warp.block->checks->order.go_on(barrier, warp.index);
}

void Checker::arrive(Warp& warp, const Instruction& ins, uint32_t mask,
                     uint32_t number) {
  BlockOrder& block = warp.block->checks->order;
  BarrierOrder& barrier = block.barriers[number];
  const bool counted = number >= Block::kBarriers || ins.source(1) != kNowhere;
  if (counted) {
    enter_postponed(*warp.block);
    block.come(number, warp.index, tables_->log.now());
  }
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
                      const LanesByWarp& waiting) {
  BlockOrder& order = block.checks->order;
  BarrierOrder& barrier = order.barriers[number];
  if (counted) {
    enter_postponed(block);
    const bool of_cluster = number >= Block::kBarriers;
    if (of_cluster) order.known_inits = order.fenced_inits;
    for (uint32_t w = 0; w < order.warps.size(); ++w) {
      if (!waiting[w]) continue;
      if (of_cluster) {
        order.go_on(number, w);
      } else {
        order.go(number, w);
        order.warps[w].meet(waiting[w], tables_->log.now());
      }
    }
    // Of the cluster's two, those who pass this one later need what it knows.
    BarrierOrder& used = of_cluster ? order.barriers[number ^ 1] : barrier;
    std::fill(used.known.begin(), used.known.end(), 0);
    used.in_cluster.clear();
  } else {
    block.checks->postponed.clear();
    block.checks->postpones = block.cluster.empty();
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

namespace {

bool sets_up(const Instruction& ins) {
  return ins.statement->name() == "mbarrier" && ins.statement->has("init");
}

}  // namespace

bool Checker::ordered(const Mine& mine, const Event& event, Time time, int lane,
                      int other) const {
  const bool same_block = event.block == mine.block.number;
  if (same_block) {
    if (time < mine.block.met) return true;
    if (event.warp == mine.warp.index &&
        (lane == other || time < mine.order.known_of(lane, other)))
      return true;
    if (time < mine.block.known_across(mine.warp.index, event.warp))
      return true;
    if (time < mine.order.heard_of(lane, event.warp * kLanes + other))
      return true;
  }
  if (!mine.block.cluster.empty() &&
      time <
          mine.block.known_in_cluster(mine.warp.index, event.block, event.warp))
    return true;
  if (time < mine.block.inits_of(event.block) &&
      sets_up(instruction(event.site)))
    return true;
  if (!mine.order.taught) return false;
  // A store that depends on a flag cannot come before it; a load can, without a
  // fence in between.
  Time learned = mine.order.learned[lane].of(event.block);
  if (mine.stores)
    learned = std::max(learned, mine.order.read[lane].of(event.block));
  if (time >= learned) return false;
  return same_block
             ? mine.block.released.covers(event.warp, other, time, learned)
             : tables_->releases.covers(event.block, event.warp, other, time,
                                        learned);
}

namespace {

// Whether a value would have ended a wait: what lies between the load and the
// branch is tried with it. Afterwards all is as it was.
class WaitEnds {
 public:
  WaitEnds(Warp& warp, const Function& function, const Instruction& load,
           int lane)
      : warp_(warp),
        load_(load),
        wait_(function.waits.at(load.site)),
        branch_(function.code[wait_.branch]),
        lane_(lane) {
    for (const auto& [place, width] : wait_.written) {
      const uint8_t* from = at(place, width);
      kept_.insert(kept_.end(), from, from + bytes(width));
    }
  }
  ~WaitEnds() {
    const uint8_t* kept = kept_.data();
    for (const auto& [place, width] : wait_.written) {
      std::memcpy(at(place, width), kept, bytes(width));
      kept += bytes(width);
    }
  }
  WaitEnds(const WaitEnds&) = delete;

  bool operator()(uint64_t value) const {
    const uint8_t width = load_.element_bytes;
    std::memcpy(at(load_.result(0), width), &value, width);
    for (const Instruction* ins = &load_ + 1; ins != &branch_; ++ins)
      ins->run(warp_, *ins, 1u << lane_);
    const uint32_t holds = *lanes<uint32_t>(warp_, branch_.guard);
    return (holds >> lane_ & 1) == wait_.ends_if;
  }

 private:
  // The lane's part of a register; of predicates, those of all lanes.
  uint8_t* at(Place place, uint8_t width) const {
    return lanes<uint8_t>(warp_, place) + lane_ * width;
  }
  static size_t bytes(uint8_t width) { return width ? width : 4; }

  Warp& warp_;
  const Instruction& load_;
  const Wait& wait_;
  const Instruction& branch_;
  const int lane_;
  std::vector<uint8_t> kept_;
};

}  // namespace

// A lane that waits might have gone on as soon as the flag had a value that it
// waits for. What others did before they changed it once more is another
// matter: it comes late only because we let the lane look late.
Lesson Checker::waited_for(Mine& mine, int lane, uint64_t flag) {
  Releases& releases = tables_->releases;
  const Time now = tables_->log.now();
  const Function& function = *grid_.program.by_site[mine.ins.site].function;
  Look& look = mine.order.look_of(lane);
  const Look last = look;
  const bool again =
      last.time && last.flag == flag && last.site == mine.ins.site;
  uint64_t there = 0;
  std::memcpy(&there, mine.access.at<uint8_t>(lane), mine.ins.element_bytes);
  const WaitEnds ends(mine.warp, function, mine.ins, lane);
  if (ends(there)) {
    look = {};
    return releases.at_end(flag, mine.ins.element_bytes, again ? last.time : 0,
                           now, ends);
  }
  look = {flag, mine.ins.site, now};
  releases.watch(flag, mine.ins.element_bytes, mine.access.at<uint8_t>(lane),
                 now);
  return releases.at(flag, now);
}

// Hands over what fences have covered, reads what others have handed over.
void Checker::synchronise(Mine& mine) {
  const Access& a = mine.access;
  const Time now = tables_->log.now();
  std::optional<PassingFence> fence;
  if (mine.ins.releases)
    fence.emplace(mine.block, mine.warp.index, a.mask,
                  is_for_others(mine.ins, mine.block), now);
  // Shared memory is another one in each block.
  const uint32_t owner = a.owner ? a.owner->number : mine.block.number;
  const bool shared = a.space == Space::kShared;
  // With several host threads, each sees its own blocks' releases only; whoever
  // has a block's shared memory is one of these.
  const bool sees_all = alone_ || shared;
  const bool hands_over = mine.block.fenced || (mine.stores && watches_);
  if (sees_all && !hands_over && !mine.ins.waits && tables_->releases.empty())
    return;
  // Who does not look at what an atomic answers has read no flag.
  const AtomicForm form = mine.ins.atomic_form;
  const bool asks = mine.ins.acquires || (form != AtomicForm::kReduction &&
                                          form != AtomicForm::kDropped);
  const bool reads = a.use != Use::kStore && asks;
  for (uint32_t rest = a.mask; rest; rest &= rest - 1) {
    const int l = first_lane(rest);
    const uint64_t flag =
        shared ? Releases::in_shared(owner, a.address[l]) : a.address[l];
    if (sees_all) tables_->releases.see(flag, a.at<uint8_t>(l));
    if (reads) {
      const Lesson lesson = !sees_all        ? Lesson{now + 1}
                            : mine.ins.waits ? waited_for(mine, l, flag)
                                             : tables_->releases.at(flag, now);
      if (lesson) mine.order.teach(l, lesson);
      if (mine.ins.acquires)
        mine.order.learn(1u << l, is_for_others(mine.ins, mine.block)
                                      ? lesson
                                      : lesson.within(mine.block.number));
    }
    if (mine.stores && watches_ && sees_all && (a.bytes == 4 || a.bytes == 8))
      tables_->releases.watch(flag, a.bytes, a.at<uint8_t>(l), now);
    if (mine.stores && mine.block.fenced)
      tables_->releases.release(mine.block, mine.warp.index, l, flag,
                                a.use == Use::kAtomic, now + 1);
    if (mine.stores && sees_all && !mine.ins.waits)
      tables_->releases.note_store(flag, now);
  }
}

// ---- Order: races ----------------------------------------------------------

Checker::Mine Checker::mine_of(Warp& warp, const Instruction& ins,
                               const Access& a) {
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
          tables_->log.now(),
          a.use != Use::kLoad};
}

void Checker::check_order(Warp& warp, const Instruction& ins, const Access& a) {
  if (postpones(warp, ins, a)) return;
  Mine mine = mine_of(warp, ins, a);
  if (!warp.block->copies.empty() || a.owner) against_copies(mine);
  if (ins.strength != Strength::kWeak) synchronise(mine);
  check_order(mine);
}

bool Checker::postpones(Warp& warp, const Instruction& ins, const Access& a) {
  BlockChecks& checks = *warp.block->checks;
  const bool shared = a.space == Space::kShared;
  const bool weak = ins.strength == Strength::kWeak;
  if (!checks.postpones || (!shared && weak)) return false;
  if (shared && weak && a.use == Use::kLoad && warp.block->copies.empty() &&
      checks.postponed.size() < kPostponed) {
    checks.postponed.push_back({&warp, &ins, a});
    checks.postponed.back().access.displacement = nullptr;  // It is resolved.
    return true;
  }
  enter_postponed(*warp.block);
  return false;
}

// From here on each is looked at, until all threads meet.
void Checker::enter_postponed(Block& block) {
  BlockChecks& checks = *block.checks;
  checks.postpones = false;
  for (const BlockChecks::Load& load : checks.postponed) {
    Mine mine = mine_of(*load.warp, *load.ins, load.access);
    check_order(mine);
  }
  checks.postponed.clear();
}

void Checker::check_order(Mine& mine) {
  const Access& a = mine.access;
  if (a.dense && a.bytes * kLanes >= kRunBytes)
    return check_run(mine, 0, kLanes);
  // Of lanes that read the same, the first and the last stand for all.
  const uint32_t like_both =
      a.is_one_place() ? a.mask & (a.mask - 1) & ~std::bit_floor(a.mask)
                       : a.same & a.mask << 1 & (a.same & a.mask) >> 1;
  const uint32_t lanes = a.use == Use::kStore ? a.mask : a.mask & ~like_both;
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
    const auto slots =
        mine.stores ? std::span<Time>(line.store) : std::span<Time>(line.load);
    if (mine.enters) enter_run(mine, slots, time, at, end);
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
  if (mine.enters) line.words = time;
  each_word(begin, end, [&](uint64_t at, uint8_t bytes) {
    Word& word = mine.shadow.word(at);
    const Touch touch{time, static_cast<uint8_t>(lane), bytes};
    against_word(mine, word, at, touch);
    if (mine.enters) enter_lane(mine, word, touch);
  });
}

// Is an access of one of two blocks as strong for the other?
bool Checker::reaches(const Instruction& ins, const Mine& mine,
                      const Event& event) const {
  return !ins.for_block &&
         !(ins.for_cluster &&
           !grid_.same_cluster(mine.block.number, event.block));
}

// Two accesses that are no race although nothing orders them?
bool Checker::may_meet(const Mine& mine, const Event& event) const {
  const auto strength = static_cast<Strength>(event.strength);
  const Strength weak = std::min(mine.ins.strength, strength);
  const Strength strong = std::max(mine.ins.strength, strength);
  if (weak == Strength::kWeak) return false;
  const bool same_block = event.block == mine.block.number;
  if (!same_block && !(reaches(mine.ins, mine, event) &&
                       reaches(instruction(event.site), mine, event)))
    return false;
  if (strong == Strength::kStrong) return true;
  // In shared memory, volatile data that nobody waits for is the old
  // warp-synchronous style.
  return mine.access.space == Space::kGlobal;
}

// Lanes of `run` (part of my access) against another run, within a line.
void Checker::against_run(Mine& mine, Time time, const Event& run,
                          uint64_t begin, uint64_t end) {
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
  if (conflict.verdict != Verdict::kFine) race(mine, conflict, *other, time);
}

// Lanes of `run` against single lanes, within a line.
void Checker::against_words(Mine& mine, const Event& run, uint64_t begin,
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

void Checker::against_word(Mine& mine, const Word& word, uint64_t at,
                           const Touch& touch) {
  const int slots = mine.stores ? Word::kSlots : Word::kLoad;
  for (int k = 0; k < slots; ++k) {
    const Touch other = word.at(k);
    if (other.time < mine.horizon || !(other.bytes & touch.bytes)) continue;
    const Event* event = tables_->log.find(other.time);
    if (!event || may_meet(mine, *event)) continue;
    if (waited(mine, word, *event, other.time) ||
        counted(mine, word, *event, other.time, touch.lane))
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
      race(mine, conflict, *event, other.time);
  }
}

// A volatile store after this warp has waited for the other's store: turns that
// are handed round. Of lanes that read the same, not all are remembered.
bool Checker::waited(const Mine& mine, const Word& word, const Event& event,
                     Time time) const {
  if (mine.ins.strength == Strength::kWeak || !event.stores) return false;
  for (int k = Word::kLoad; k < Word::kSlots; ++k) {
    const Touch load = word.at(k);
    const Event* e = tables_->log.find(load.time);
    if (load.time > time && e && e->block == mine.block.number &&
        e->warp == mine.warp.index &&
        static_cast<Strength>(e->strength) == Strength::kStrong)
      return true;
  }
  return false;
}

// A plain store to a counter by who has learned from it that others have
// counted: its block's atomic came behind theirs, and is ordered before the
// store. So the last of all blocks sets it to zero. Whether the store depends
// on what the atomic answered is not looked at.
bool Checker::counted(const Mine& mine, const Word& word, const Event& event,
                      Time time, int lane) const {
  const auto is_strong = [](const Event& e) {
    return static_cast<Strength>(e.strength) == Strength::kStrong && e.stores;
  };
  if (!mine.stores || !is_strong(event) ||
      time >= mine.order.lessons(1u << lane).of(event.block))
    return false;
  for (int k = Word::kStrongStore; k < Word::kLoad; ++k) {
    const Touch own = word.at(k);
    const Event* e = tables_->log.find(own.time);
    if (own.time > time && e && e->block == mine.block.number &&
        instruction(e->site).statement->name() == "atom" &&
        ordered(mine, *e, own.time, lane, own.lane))
      return true;
  }
  return false;
}

// A load by a cache that does not see what its own grid stores, whoever did so,
// and however long ago.
bool Checker::is_stale(const Mine& mine, const Event& event) const {
  return mine.ins.read_only && event.stores;
}

void Checker::compare(Mine& mine, Conflict& conflict, const Event& event,
                      Time time, int lane, int other, uint64_t address) {
  if (told(mine, event, time)) return;
  const bool stale = is_stale(mine, event);
  if (!stale && ordered(mine, event, time, lane, other)) return;
  const Verdict verdict =
      stale ? Verdict::kRace : judge(mine, event, time, lane, other);
  if (verdict > conflict.verdict) conflict = {verdict, lane, other, address};
}

Verdict Checker::judge(const Mine& mine, const Event& event, Time time,
                       int lane, int other) {
  const auto strength = static_cast<Strength>(event.strength);
  if (mine.stores && event.stores) {
    const bool at_once = time >= mine.first_event;
    if (mine.access.use != Use::kStore || strength == Strength::kStrong ||
        !stores_same(mine, lane, at_once ? other : -1))
      return Verdict::kRace;
    // Where cooperative groups copy for a tile, who has nothing left copies the
    // last word again.
    const bool again =
        mine.copy && !mine.copy->is_bulk() && event.site == mine.ins.site;
    return again ? Verdict::kFine : Verdict::kSameValue;
  }
  const Instruction& theirs = instruction(event.site);
  const Instruction& load = mine.stores ? theirs : mine.ins;
  const Instruction& store = mine.stores ? mine.ins : theirs;
  if (load.guess != Guess::kNone && store.strength == Strength::kStrong)
    return load.guess == Guess::kVerified ? Verdict::kFine : Verdict::kGuess;
  if (load.element_bytes != store.element_bytes) return Verdict::kRace;
  const Function& function = *grid_.program.by_site[load.site].function;
  const auto test = function.tests.find(load.site);
  const auto tested = function.tested_stores.find(store.site);
  const bool same = test != function.tests.end() &&
                    tested != function.tested_stores.end() &&
                    ends_the_same(mine, lane, test->second, tested->second);
  return same ? Verdict::kSameEnd : Verdict::kRace;
}

// Does a lane store what another lane stores by the same instruction, or (-1)
// what is there already?
bool Checker::stores_same(const Mine& mine, int lane, int other) const {
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

namespace {

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
  return std::find(places.begin(), places.end(), place) != places.end();
}

}  // namespace

uint32_t Checker::keepers(Warp& warp, const Instruction& load) const {
  const Function& function = *grid_.program.by_site[load.site].function;
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

// A thread tests a word that another one sets. Does it end the same, whichever
// comes first: does the test answer alike, or does its thread, too, store what
// the other one does? `mine` is either of the two.
bool Checker::ends_the_same(const Mine& mine, int lane, const Test& test,
                            const TestedStore& tested) const {
  if (test.uniform_value && test.uniform_value == tested.uniform_value)
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
  if (test.stores != kNowhere &&
      (mine.stores || in_register(test.stores) == there))
    return true;
  if (test.comparisons.empty()) return false;
  if (!mine.stores && !tested.asked) return false;
  const int64_t now = mine.stores ? in_register(mine.ins.source(0)) : there;
  return std::all_of(
      test.comparisons.begin(), test.comparisons.end(),
      [&](const Comparison& one) {
        if (mine.stores && !contains(tested.uniform, one.with)) return false;
        const uint64_t with =
            bits_at(mine.warp, lane, one.with, one.bytes) + one.added;
        const std::optional<bool> before =
            mine.stores
                ? answer(one, there, with)
                : answer_before(one, with, tested,
                                bits_at(mine.warp, lane, tested.asked->with,
                                        tested.asked->bytes));
        return before == answer(one, now, with);
      });
}

// What is in memory where a lane accesses it.
uint64_t Checker::bits_there(const Mine& mine, int lane) const {
  uint64_t bits = 0;
  std::memcpy(&bits, mine.access.at<uint8_t>(lane), mine.ins.element_bytes);
  return bits;
}

namespace {

// Do the bytes from `begin` to `end` hold all that an event touches of their
// line?
bool covers_part(const Event& event, uint64_t begin, uint64_t end) {
  const uint64_t line = begin / Shadow::kLineBytes * Shadow::kLineBytes;
  return std::max(line, event.begin()) >= begin &&
         std::min(line + Shadow::kLineBytes, event.end()) <= end;
}

// Of two runs of one warp that overlap.
bool has_same_lanes(const Event& one, const Event& two) {
  const uint64_t at = std::max(one.begin(), two.begin());
  return one.log_bytes == two.log_bytes && one.lane_at(at) == two.lane_at(at);
}

}  // namespace

// What an access may meet. In global memory an atomic meets no more than a
// volatile access does.
Strength Checker::meets(const Mine& mine, Strength strength) const {
  return strength == Strength::kVolatile && mine.access.space == Space::kGlobal
             ? Strength::kStrong
             : strength;
}

// Whoever is ordered behind `run`, my part of a line, is so behind that of
// `event`, and may meet no more than that may: then it can be forgotten.
bool Checker::replaces(const Mine& mine, const Event& run, const Event& event,
                       Time time, uint64_t begin, uint64_t end) const {
  const auto strength = static_cast<Strength>(event.strength);
  if (!covers_part(event, begin, end) ||
      meets(mine, mine.ins.strength) > meets(mine, strength))
    return false;
  // Nothing meets a plain store: if the two are not ordered, it has been said.
  if (mine.stores && mine.ins.strength == Strength::kWeak) return true;
  if (event.block != mine.block.number) return false;
  if (time < mine.block.met) return true;
  // Of lanes that have not met since, each knows of itself.
  return event.warp == mine.warp.index &&
         (time < mine.order.synced || has_same_lanes(run, event));
}

// Puts a run in place of one that it makes superfluous; or of one that may meet
// others, first one whose bytes are all its own, so that others' bytes keep
// theirs, then the newest: the oldest is the one least likely to be ordered.
void Checker::enter_run(Mine& mine, std::span<Time> slots, Time time,
                        uint64_t begin, uint64_t end) {
  const Event& run = *tables_->log.find(time);
  for (Time& t : slots) {
    const Event* e = t < mine.horizon ? nullptr : tables_->log.find(t);
    if (!e || replaces(mine, run, *e, t, begin, end)) return void(t = time);
  }
  const auto rank = [&](Time t) {
    const Event& e = *tables_->log.find(t);
    const auto strength = static_cast<Strength>(e.strength);
    return std::tuple(meets(mine, strength), covers_part(e, begin, end), t);
  };
  Time* loser = &slots[0];
  for (Time& t : slots)
    if (rank(t) > rank(*loser)) loser = &t;
  if (std::get<0>(rank(*loser)) >= meets(mine, mine.ins.strength))
    *loser = time;
}

// The same for a lane's access to a word.
void Checker::enter_lane(Mine& mine, Word& word, const Touch& touch) {
  if (mine.stores && mine.ins.strength == Strength::kWeak) {
    if (touch.bytes != Touch::kWhole) keep_other_bytes(mine, word, touch);
    return word.enter(Word::kWeakStore, touch, false);
  }
  const bool strong = mine.ins.strength != Strength::kWeak;
  const Strength ours = meets(mine, mine.ins.strength);
  const int first = mine.stores ? Word::kStrongStore : Word::kLoad;
  int loser = first + 1;
  for (int k = first; k < first + 2; ++k) {
    const Touch old = word.at(k);
    if (old.time < mine.horizon || !tables_->log.remembers(old.time) ||
        (mine.stores && !word.is_strong(k)))
      return word.enter(k, touch, strong);
    if (!strong && is_of_others(mine, old.time)) {
      if (word.is_strong(k)) loser = k;
      continue;
    }
    const Event& e = *tables_->log.find(old.time);
    const Strength theirs = meets(mine, static_cast<Strength>(e.strength));
    if (theirs < ours) {
      if (k == loser) return;
      continue;
    }
    if (ordered(mine, e, old.time, touch.lane, old.lane))
      return word.enter(k, touch, strong);
    if (theirs > ours) loser = k;
  }
  word.enter(loser, touch, strong);
}

// A store to some bytes says nothing of the store before it to others.
void Checker::keep_other_bytes(const Mine& mine, Word& word,
                               const Touch& touch) const {
  const Touch last = word.at(Word::kWeakStore);
  if (last.time < mine.horizon || !(last.bytes & ~touch.bytes)) return;
  for (int k = Word::kStrongStore; k < Word::kLoad; ++k) {
    const Touch old = word.at(k);
    const bool newer_is_known =
        !word.is_strong(k) && !(old.bytes & ~(last.bytes | touch.bytes));
    if (old.time < mine.horizon || newer_is_known)
      return word.enter(k, last, false);
  }
}

// Other blocks did it before this one began, and nothing has told it of them.
bool Checker::is_of_others(const Mine& mine, Time time) const {
  return time < mine.block.began && !mine.order.taught &&
         mine.block.cluster.empty();
}

// ---- Stores that nobody may read -------------------------------------------

// Of a cluster, other blocks may read them, too.
bool Checker::is_clash(const Mine& mine, const Event& event) const {
  const auto is_plain = [](const Instruction& ins) {
    return ins.strength == Strength::kWeak && ins.statement->name() == "st";
  };
  return mine.access.space == Space::kShared && mine.block.cluster.empty() &&
         is_plain(mine.ins) && is_plain(instruction(event.site));
}

void Checker::enter_clash(const Mine& mine, const Conflict& conflict,
                          const Event& event, Time time, uint8_t bytes) {
  auto& clashes = mine.warp.block->checks->clashes;
  const uint64_t word = conflict.address / Shadow::kWordBytes;
  bool in_warp = event.warp == mine.warp.index;
  const auto known = clashes.find(word);
  if (known != clashes.end()) {
    BlockChecks::Clash& clash = known->second;
    in_warp &= clash.in_warp && clash.warp == &mine.warp;
    bytes |= clash.bytes;
    if (clash.conflict.verdict >= conflict.verdict) {
      clash.in_warp = in_warp;
      clash.end = tables_->log.now();
      clash.bytes = bytes;
      return;
    }
    clashes.erase(known);
  }
  clashes.emplace(word, BlockChecks::Clash{&mine.warp, &mine.ins, mine.access,
                                           conflict, event, time, in_warp,
                                           tables_->log.now(), bytes});
}

// Who reads may find what either has stored, unless a store behind both of them
// has covered that.
void Checker::settle_clashes(const Warp& warp, const Access& a) {
  auto& clashes = warp.block->checks->clashes;
  if (clashes.empty() || a.space != Space::kShared) return;
  const BlockOrder& block = warp.block->checks->order;
  const auto is_behind = [&](const BlockChecks::Clash& clash) {
    return clash.end <= block.met ||
           (clash.in_warp && clash.warp == &warp &&
            clash.end <= block.warps[warp.index].synced);
  };
  for (uint32_t rest = a.mask; rest; rest &= rest - 1) {
    const uint64_t begin = a.address[first_lane(rest)];
    each_word(begin, begin + a.bytes, [&](uint64_t at, uint8_t touched) {
      const auto found = clashes.find(at / Shadow::kWordBytes);
      if (found == clashes.end() || !(found->second.bytes & touched)) return;
      BlockChecks::Clash& clash = found->second;
      if (a.use != Use::kStore) {
        race(mine_of(*clash.warp, *clash.ins, clash.access), clash.conflict,
             clash.other, clash.other_time);
        clashes.erase(found);
      } else if (is_behind(clash)) {
        clash.bytes &= ~touched;
        if (!clash.bytes) clashes.erase(found);
      }
    });
  }
}

// ---- Reports ---------------------------------------------------------------

// CUB's blocks hand on what they count (ScanTileState): each once it has used
// all it read, as the count depends on that, and each writes once it has the
// counts of those before it. So a block's store comes behind an earlier block's
// reads, without a fence. thrust::unique needs that: it writes where it reads.
bool Checker::looked_back(const Mine& mine, const Event& event) const {
  const Function& function = *grid_.program.by_site[mine.ins.site].function;
  return mine.stores && !event.stores && event.block < mine.block.number &&
         function.name.find("ScanTileState") != std::string::npos;
}

void Checker::race(const Mine& mine, const Conflict& c, const Event& event,
                   Time time) {
  if (looked_back(mine, event)) return;
  const Instruction& ins = mine.ins;
  const char* kind = c.verdict == Verdict::kRace    ? "race"
                     : c.verdict == Verdict::kGuess ? "guess"
                                                    : "same value";
  if (Seen* before = seen(kind, ins.site, event.site))
    return void(++before->count);
  const Instruction& theirs = instruction(event.site);
  Finding f = finding_at(mine.warp, ins, c.lane, kind, "");
  place_other(f, theirs, event.block, event.warp * kLanes + c.other_lane);
  f.address = c.address;
  f.note = c.verdict != Verdict::kRace;
  const Statement& done = *theirs.statement;
  const bool writes =
      done.stores() ||
      (done.name() == "mbarrier" && theirs.strength == Strength::kWeak) ||
      (done.name() == "tensormap" && event.stores);
  const std::string other =
      "the " +
      std::string(done.name() == "cp" ? "asynchronous copy"
                  : writes            ? "write"
                  : event.stores      ? "atomic"
                                      : "read") +
      " by thread " + triple(f.other_thread) +
      (event.block == mine.block.number
           ? ""
           : " of block " + triple(f.other_block)) +
      (f.other_line ? " at " + grid_.program.location(theirs.where) : "");
  std::string place = text_of_place(grid_, mine.access.space, c.address);
  if (mine.access.space == Space::kShared && mine.access.owner)
    place += " of block " +
             triple(coordinates(mine.access.owner->number, grid_.shape.grid));
  const std::string both = std::string(verb(mine.access.use)) + " of " +
                           std::to_string(mine.access.bytes) +
                           " bytes, and nothing orders it and " + other +
                           ", of " + place + ". ";
  switch (c.verdict) {
    case Verdict::kSameValue:
      f.message = "several threads store the same value at " + place +
                  ", and nothing orders them: this one and " + other +
                  ". It does no harm while the values agree";
      break;
    case Verdict::kSameEnd:
      f.message = both +
                  "The read only tests the word, and decides the same, or has "
                  "its thread write the same, whichever comes first. It does "
                  "no harm while the values agree";
      break;
    case Verdict::kGuess:
      f.message = both +
                  "What is read goes into a compare-and-swap, which sees to "
                  "it that it is not too old; but it may also decide that "
                  "there will be none. That does no harm if an old value "
                  "decides the same";
      break;
    default:
      f.message = both + remedy(mine, c, event, time);
  }
  report(kind, ins.site, event.site, std::move(f));
}

std::string Checker::remedy(const Mine& mine, const Conflict& c,
                            const Event& event, Time time) const {
  const bool same_block = event.block == mine.block.number;
  const bool both_strong =
      mine.ins.strength == Strength::kStrong &&
      static_cast<Strength>(event.strength) == Strength::kStrong;
  if (is_stale(mine, event))
    return "Who reads by __ldg(), a const __restrict__ pointer, a texture or a "
           "surface may find what was there before the kernel began: a kernel "
           "must not write what it reads so, and no barrier mends that";
  if (both_strong && !same_block)
    return "Other blocks know nothing of what is atomic for a block alone";
  if (!same_block && mine.access.space == Space::kShared)
    return "The cluster's barrier orders its blocks, and so do mbarriers";
  if (mine.order.taught && time < mine.order.read[c.lane].of(event.block) &&
      time >= mine.order.learned[c.lane].of(event.block))
    return "Who has seen a flag needs a __threadfence(), too, before it reads "
           "what the flag announces";
  if (!same_block)
    return "Only atomics, flags behind __threadfence() or another launch "
           "order blocks";
  const std::string order =
      event.warp == mine.warp.index
          ? "Lanes of a warp need __syncwarp() in between, too"
          : "Threads of a block need __syncthreads() in between";
  const bool alike = mine.ins.statement->is_atomic() ==
                     instruction(event.site).statement->is_atomic();
  return alike ? order : order + ", unless both are atomic";
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

const Instruction& Checker::instruction(uint32_t site) const {
  return *grid_.program.by_site[site].instruction;
}

Checker::Seen* Checker::seen(const char* kind, uint32_t site, uint32_t other) {
  const auto known = seen_.find({kind, site, other});
  return known == seen_.end() ? nullptr : &known->second;
}

void Checker::report(const char* kind, uint32_t site, uint32_t other,
                     Finding f) {
  if (grid_.undo) grid_.undo->give_up();  // One host thread will find it first.
  const uint64_t number = seen_.size();
  seen_[{kind, site, other}] = {std::move(f), number, 1};
}

void Checker::add(Checker& other) {
  if (grid_.undo && trails_->meets(*other.trails_)) grid_.undo->give_up();
  if (grid_.undo && (other.trails_->has_missed(*other.trails_) ||
                     other.trails_->has_missed(*trails_) ||
                     trails_->has_missed(*other.trails_))) {
    if (loads_apart_)
      grid_.undo->give_up_for_loads();
    else  // It is a texture's memory.
      grid_.undo->give_up();
  }
  if (trails_) trails_->add(*other.trails_);
  handover_.add(other.handover_);
  for (const auto& [key, seen] : other.seen_) {
    const uint64_t number = seen_.size();
    const auto [known, fresh] =
        seen_.try_emplace(key, Seen{seen.finding, number, 0});
    known->second.count += seen.count;
  }
}

// Does the same read race, too? Who reads too early finds nothing written, or
// races: a race says more.
bool Checker::is_explained(const Key& key) const {
  const auto& [kind, site, matters] = key;
  return kind == "uninitialised read" &&
         std::ranges::any_of(seen_, [&](const auto& one) {
           const auto& [other_kind, a, b] = one.first;
           return other_kind == "race" && (a == site || b == site);
         });
}

std::vector<Finding> Checker::findings() const {
  std::vector<const Seen*> all;
  for (const auto& [key, seen] : seen_)
    if (!is_explained(key)) all.push_back(&seen);
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
  // The same, of lines: a line may read several times.
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
