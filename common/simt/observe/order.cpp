// Keeps the times by which accesses are ordered.
#include "common/simt/observe/order.h"

#include <algorithm>
#include <utility>

namespace simt {
namespace {

void raise(Time& time, Time to) { time = std::max(time, to); }

}  // namespace

void raise(ClusterClock& clock, const ClusterClock& more) {
  if (clock.size() < more.size()) clock.resize(more.size());
  for (size_t k = 0; k < more.size(); ++k) raise(clock[k], more[k]);
}

void Lesson::add(const Lesson& more) {
  raise(all, more.all);
  if (!more.one) return;
  // Of two blocks, what is known of the one of which less is known is taken to
  // be known of all.
  if (one && block != more.block) raise(all, std::min(one, more.one));
  if (more.one <= one) return;
  block = more.block;
  one = more.one;
}

Lesson Lesson::known_by(const Lesson& known) const {
  Lesson part{std::min(all, known.all)};
  for (const uint32_t each : {block, known.block})
    part.add({0, std::min(of(each), known.of(each)), each});
  return part;
}

Knowledge joined(const Knowledge& one, const Knowledge& two) {
  if (!one || one == two) return two;
  if (!two) return one;
  Clock both = *one;
  for (size_t t = 0; t < both.size(); ++t) raise(both[t], (*two)[t]);
  return std::make_shared<const Clock>(std::move(both));
}

void WarpOrder::hear(uint32_t mask, const Knowledge& news) {
  if (!news) return;
  hears = true;
  Knowledge before, after;  // of the last lane: most know the same
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    Knowledge& mine = heard[first_lane(rest)];
    if (!after || mine != before) {
      before = mine;
      after = joined(mine, news);
    }
    mine = after;
  }
}

Knowledge WarpOrder::all_heard(uint32_t mask) const {
  Knowledge all;
  for (uint32_t rest = hears ? mask : 0; rest; rest &= rest - 1)
    all = joined(all, heard[first_lane(rest)]);
  return all;
}

void WarpOrder::forget_heard() {
  if (hears) heard.fill(nullptr);
  hears = false;
}

void WarpOrder::start() {
  forget_heard();
  synced = 0;
  partly = false;
  if (fenced) block_fence = device_fence = {};
  fenced = false;
  if (taught) read = learned = {};
  taught = false;
  looks.reset();
}

void WarpOrder::meet(uint32_t members, Time now) {
  if (taught) learn(members, lessons(members));
  if (hears) hear(members, all_heard(members));
  if ((lanes & ~members) == 0) {
    synced = now;
    partly = false;
    return;
  }
  if (!known) known = std::make_unique<decltype(known)::element_type>();
  if (!partly)
    for (auto& row : *known) row.fill(synced);
  partly = true;
  std::array<Time, kLanes> together{};
  for (int l = 0; l < kLanes; ++l) {
    if (!(members >> l & 1)) continue;
    for (int m = 0; m < kLanes; ++m) raise(together[m], (*known)[l][m]);
  }
  for (int l = 0; l < kLanes; ++l)
    if (members >> l & 1) together[l] = now;
  for (int l = 0; l < kLanes; ++l)
    if (members >> l & 1) (*known)[l] = together;
}

void WarpOrder::fence(Fences& fences, uint32_t mask, Time met, Time now) {
  fenced = true;
  if (partly) fences.of_lanes.resize(kLanes);
  for (int l = 0; l < kLanes; ++l) {
    if (!(mask >> l & 1)) continue;
    fences.at[l] = now;
    fences.of_warp[l] = synced;
    fences.of_block[l] = met;
    if (fences.of_lanes.empty()) continue;
    for (int m = 0; m < kLanes; ++m) fences.of_lanes[l][m] = known_of(l, m);
  }
}

void WarpOrder::teach(int lane, const Lesson& lesson) {
  taught = true;
  read[lane].add(lesson);
}

Look& WarpOrder::look_of(int lane) {
  if (!looks) looks = std::make_unique<std::array<Look, kLanes>>();
  return (*looks)[lane];
}

bool WarpOrder::has_met(uint64_t flag, Time time) const {
  return looks && std::ranges::any_of(*looks, [&](const Look& look) {
           return look.met == flag && look.met_at > time;
         });
}

Lesson WarpOrder::lessons(uint32_t mask) const {
  Lesson sum;
  if (!taught) return sum;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const int l = first_lane(rest);
    sum.add(learned[l]);
    sum.add(read[l]);
  }
  return sum;
}

void WarpOrder::learn(uint32_t mask, const Lesson& lesson) {
  if (!lesson) return;
  taught = true;
  for (int l = 0; l < kLanes; ++l)
    if (mask >> l & 1) learned[l].add(lesson);
}

void BlockOrder::start(uint32_t block, Time now) {
  number = block;
  met = fenced_for_copies = began = now;
  fenced = fenced_for_device = false;
  fenced_inits = known_inits = 0;
  across.clear();
  released.clear();
  for (BarrierOrder& b : barriers) b = {};
  mbarriers.clear();
  cluster.clear();
  in_cluster.clear();
  visits.clear();
  for (WarpOrder& w : warps) w.start();
}

void BlockOrder::join(const std::vector<BlockOrder*>& blocks,
                      uint32_t its_rank) {
  cluster = blocks;
  rank = its_rank;
  const size_t all = blocks.size() * warps.size();
  in_cluster.assign(warps.size(), ClusterClock(all));
  visits.assign(all, {});
}

// What a warp can hand over: what it knows of the cluster, with its own block.
ClusterClock BlockOrder::cluster_clock(uint32_t warp, Time now) const {
  ClusterClock clock = in_cluster[warp];
  for (uint32_t v = 0; v < warps.size(); ++v)
    raise(clock[rank * warps.size() + v],
          v == warp ? now : std::max(met, known_across(warp, v)));
  if (const Knowledge heard = warps[warp].all_heard(kAllLanes))
    for (size_t t = 0; t < heard->size(); ++t)
      raise(clock[rank * warps.size() + t / kLanes], (*heard)[t]);
  return clock;
}

void BlockOrder::meet_in_cluster() {
  ClusterClock all;
  for (const ClusterClock& one : in_cluster) raise(all, one);
  for (ClusterClock& one : in_cluster) one = all;
}

Time BlockOrder::known_in_cluster(uint32_t warp, uint32_t block,
                                  uint32_t of) const {
  for (const BlockOrder* other : cluster)
    if (other->number == block)
      return in_cluster[warp][other->rank * warps.size() + of];
  return 0;
}

Time BlockOrder::inits_of(uint32_t block) const {
  for (const BlockOrder* other : cluster)
    if (other->number == block) return other->known_inits;
  return block == number ? known_inits : 0;
}

bool BlockOrder::knows_visit(size_t k) const {
  return std::any_of(
      in_cluster.begin(), in_cluster.end(),
      [&](const ClusterClock& one) { return visits[k].time < one[k]; });
}

void BlockOrder::fence(uint32_t warp, uint32_t mask, bool for_device,
                       Time now) {
  WarpOrder& w = warps[warp];
  fenced = true;
  w.fence(w.block_fence, mask, met, now);
  if (!for_device) return;
  fenced_for_device = true;
  w.fence(w.device_fence, mask, met, now);
}

void BlockOrder::understand(uint32_t warp, uint32_t mask, bool of_others) {
  WarpOrder& w = warps[warp];
  if (!w.taught) return;
  for (int l = 0; l < kLanes; ++l)
    if (mask >> l & 1)
      w.learned[l].add(of_others ? w.read[l] : w.read[l].within(number));
}

void BlockOrder::meet(Time now) {
  met = now;
  for (WarpOrder& w : warps) {
    w.forget_heard();  // It is older than that.
    w.synced = now;
    w.partly = false;
  }
  // Who comes to one of them now comes after all that it was open for.
  if (!across.empty())
    for (BarrierOrder& b : barriers) b.waited = 0;
  if (!cluster.empty()) meet_in_cluster();
  Lesson sum;
  for (const WarpOrder& w : warps) sum.add(w.lessons(kAllLanes));
  if (!sum) return;
  for (WarpOrder& w : warps) w.learn(kAllLanes, sum);
}

void BlockOrder::come(uint32_t barrier, uint32_t warp, Time now) {
  const size_t n = warps.size();
  if (across.empty()) across.resize(n * n);
  std::vector<Time>& known = barriers[barrier].known;
  known.resize(n);
  for (size_t v = 0; v < n; ++v) raise(known[v], across[warp * n + v]);
  raise(known[warp], now);
  barriers[barrier].lesson.add(warps[warp].lessons(kAllLanes));
  barriers[barrier].heard =
      joined(barriers[barrier].heard, warps[warp].all_heard(kAllLanes));
  if (!cluster.empty())
    raise(barriers[barrier].in_cluster, cluster_clock(warp, now));
}

void BlockOrder::open(uint32_t barrier, uint32_t waiting, Time now) {
  BarrierOrder& b = barriers[barrier];
  b.came = std::exchange(b.coming, 0);
  b.waited = waiting;
  b.opened = now;
}

bool BlockOrder::is_stranger(uint32_t barrier, uint32_t warp) const {
  const BarrierOrder& b = barriers[barrier];
  if (!b.waited || b.came >> warp & 1) return false;
  for (uint32_t rest = b.waited; rest; rest &= rest - 1)
    if (knows(warp, first_lane(rest), b.opened)) return false;
  return true;
}

bool BlockOrder::knows(uint32_t warp, uint32_t other, Time since) const {
  if (known_across(warp, other) >= since) return true;
  if (!cluster.empty() &&
      in_cluster[warp][rank * warps.size() + other] >= since)
    return true;
  const WarpOrder& w = warps[warp];
  const Knowledge heard = w.all_heard(kAllLanes);
  for (int l = 0; heard && l < kLanes; ++l)
    if ((*heard)[other * kLanes + l] >= since) return true;
  return w.lessons(kAllLanes).of(number) >= since;
}

// One lane's fence counts for its warp: that is all that a barrier tells apart.
void BlockOrder::come_relaxed(uint32_t barrier, uint32_t warp) {
  const WarpOrder& w = warps[warp];
  const auto& fences = cluster.empty() ? w.block_fence.at : w.device_fence.at;
  const Time last = *std::max_element(fences.begin(), fences.end());
  if (w.fenced && last) come(barrier, warp, last);
}

void BlockOrder::go(uint32_t barrier, uint32_t warp) {
  const std::vector<Time>& known = barriers[barrier].known;
  for (size_t v = 0; v < known.size(); ++v)
    raise(across[warp * known.size() + v], known[v]);
  warps[warp].learn(kAllLanes, barriers[barrier].lesson);
  warps[warp].hear(kAllLanes, barriers[barrier].heard);
  if (!cluster.empty()) raise(in_cluster[warp], barriers[barrier].in_cluster);
}

void BlockOrder::go_on(uint32_t barrier, uint32_t warp) {
  go(barrier, warp);
  const std::vector<Time>& known = barriers[barrier].known;
  if (!known.empty()) raise(warps[warp].synced, known[warp]);
  for (const BlockOrder* other : cluster) {
    raise(in_cluster[warp], other->barriers[barrier].in_cluster);
    warps[warp].learn(kAllLanes, other->barriers[barrier].lesson);
  }
}

void BlockOrder::hand_over(uint64_t mbarrier, uint32_t warp, uint32_t mask,
                           Time now) {
  MbarrierOrder& barrier = mbarriers[mbarrier];
  const WarpOrder& order = warps[warp];
  Clock& clock = barrier.arriving;
  clock.resize(warps.size() * kLanes);
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    const int lane = first_lane(rest);
    for (int l = 0; l < kLanes; ++l)
      raise(clock[warp * kLanes + l], order.known_of(lane, l));
    raise(clock[warp * kLanes + lane], now);
  }
  if (!across.empty())
    for (size_t t = 0; t < clock.size(); ++t)
      raise(clock[t], known_across(warp, t / kLanes));
  if (const Knowledge heard = order.all_heard(mask))
    for (size_t t = 0; t < clock.size(); ++t) raise(clock[t], (*heard)[t]);
  barrier.lesson.add(order.lessons(mask));
}

void BlockOrder::tell(uint64_t mbarrier, const BlockOrder& other, uint32_t warp,
                      Time now) {
  MbarrierOrder& barrier = mbarriers[mbarrier];
  // Of its own block, what hand_over() tells thread by thread is left out.
  raise(barrier.telling,
        &other == this ? in_cluster[warp] : other.cluster_clock(warp, now));
  barrier.lesson.add(other.warps[warp].lessons(kAllLanes));
}

void BlockOrder::complete(uint64_t mbarrier) {
  MbarrierOrder& barrier = mbarriers[mbarrier];
  barrier.arriving.resize(warps.size() * kLanes);
  barrier.arrived = std::make_shared<const Clock>(std::move(barrier.arriving));
  barrier.arriving.clear();
  barrier.told = std::exchange(barrier.telling, {});
  barrier.taught = std::exchange(barrier.lesson, {});
}

void BlockOrder::take_over(uint64_t mbarrier, uint32_t warp, uint32_t mask) {
  const MbarrierOrder& barrier = mbarriers[mbarrier];
  warps[warp].hear(mask, barrier.arrived);
  warps[warp].learn(mask, barrier.taught);
  if (!cluster.empty()) raise(in_cluster[warp], barrier.told);
}

void HandedOut::clear() {
  all_ = {};
  others_met_ = learned_ = 0;
  of_.clear();
}

void HandedOut::Part::raise(Time to, Time now) {
  if (to <= end) return;
  if (since != now) end_before = end;
  since = now;
  end = to;
}

void HandedOut::add(const BlockOrder& block, uint32_t warp, int lane,
                    Fences WarpOrder::*kind, Time now) {
  of_.resize(block.warps.size() * kLanes);
  const WarpOrder& order = block.warps[warp];
  const Fences& mine = order.*kind;
  Part* const lanes = &of_[warp * kLanes];
  if (mine.at[lane]) {
    all_.raise(mine.of_block[lane], now);
    for (int l = 0; l < kLanes; ++l)
      lanes[l].raise(
          mine.of_lanes.empty() ? mine.of_warp[lane] : mine.of_lanes[lane][l],
          now);
    lanes[lane].raise(mine.at[lane], now);
    if (!block.across.empty())
      for (size_t t = 0; t < of_.size(); ++t)
        of_[t].raise(block.known_across(warp, t / kLanes), now);
    for (size_t t = 0; t < (order.hears ? of_.size() : 0); ++t)
      of_[t].raise(order.heard_of(lane, t), now);
  }
  // Others' own fences count once a barrier has ordered them before us.
  for (int l = 0; l < kLanes; ++l)
    if (mine.at[l] <= order.known_of(lane, l)) lanes[l].raise(mine.at[l], now);
  if (others_met_ != block.met) add_others(block, kind, now);
  others_met_ = block.met;
}

void HandedOut::add_learned(const HandedOut& within, Time until, Time now) {
  if (until <= learned_) return;
  learned_ = until;
  all_.raise(std::min(within.all_.end_at(until), until), now);
  for (size_t t = 0; t < within.of_.size(); ++t)
    of_[t].raise(std::min(within.of_[t].end_at(until), until), now);
}

void HandedOut::add_warps(std::span<const Time> known, Time fenced) {
  of_.resize(known.size() * kLanes);
  for (size_t t = 0; t < of_.size(); ++t) {
    const Time to = std::min(known[t / kLanes], fenced);
    of_[t].raise(to, to);
  }
}

void HandedOut::add_others(const BlockOrder& block, Fences WarpOrder::*kind,
                           Time now) {
  for (size_t t = 0; t < of_.size(); ++t) {
    const Time at = (block.warps[t / kLanes].*kind).at[t % kLanes];
    if (at <= block.met) of_[t].raise(at, now);
  }
}

PassingFence::PassingFence(BlockOrder& block, uint32_t warp, uint32_t mask,
                           bool for_device, Time now)
    : block_(block),
      warp_(block.warps[warp]),
      fenced_(block.fenced),
      fenced_for_device_(block.fenced_for_device),
      warp_fenced_(warp_.fenced),
      block_fence_(warp_.block_fence),
      device_fence_(warp_.device_fence) {
  block.fence(warp, mask, for_device, now);
}

PassingFence::~PassingFence() {
  block_.fenced = fenced_;
  block_.fenced_for_device = fenced_for_device_;
  warp_.fenced = warp_fenced_;
  warp_.block_fence = block_fence_;
  warp_.device_fence = device_fence_;
}

}  // namespace simt
