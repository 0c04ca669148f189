// Host threads take blocks, run them, and find that nobody can go on.
#include "common/simt/machine/workers.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "common/simt/core/settings.h"
#include "common/simt/machine/block_run.h"
#include "common/simt/memory/allocations.h"
#include "common/simt/memory/undo.h"
#include "common/simt/observe/trace.h"

namespace simt {
namespace {

// Blocks that may be unfinished at the same time, waiting for one another: no
// more than fit on the largest GPUs, if registers are left out.
constexpr size_t kResident = 4096;
constexpr size_t kMultiprocessors = 160, kBlocksOfOne = 32, kWarpsOfOne = 64,
                 kSharedOfOne = 228 << 10, kSharedReserved = 1 << 10;
// In waits_since_: who works, and who has ended.
constexpr uint64_t kWorks = ~0ull, kEnded = ~1ull;
// A launch that has been done by then needs no helpers.
constexpr std::chrono::milliseconds kSoon{2};
// So often a worker that waits looks again at once before it sleeps.
constexpr int kLooks = 100;
// After so many rounds in which no block ended other devices have their turn.
constexpr int kRounds = 100;
// If they need not be resident together, a worker takes neighbouring blocks,
// which mostly touch neighbouring memory: so many times.
constexpr uint64_t kShares = 8;

size_t most_resident(const Grid& grid) {
  const size_t on_one =
      std::min({kBlocksOfOne, kWarpsOfOne / grid.warps(),
                kSharedOfOne / (grid.shared_bytes() + kSharedReserved)});
  const size_t all =
      on_one * std::max<size_t>(kMultiprocessors, grid.multiprocessors);
  return std::min(kResident, all);
}

}  // namespace

// One host thread's share.
class Worker {
 public:
  Worker(Workers& all, size_t me, Observers observers)
      : all_(all),
        me_(me),
        observers_(observers),
        others_(all.grid_.shape.others),
        room_(std::max<size_t>(most_resident(all.grid_) / all.grid_.threads,
                               1)) {}

  void run() {
    while (!all_.stop_) {
      const bool ended = revisit();
      // The more blocks have begun in vain, the more begin at a time.
      batch_ = ended ? 1 : std::min(2 * batch_, room_);
      const bool begun = begin();
      if (resident_.empty()) {
        if (!begun) return;
        batch_ = 1;
      } else if (!ended && !begun && stands_still()) {
        wait();
      } else {
        const uint64_t changes = all_.grid_.changes;
        if (std::exchange(seen_, changes) != changes || ended || begun)
          looks_ = 0;
        rounds_ = ended || begun ? 0 : rounds_ + 1;
        if (rounds_ > kRounds && others_) others_->pause({});
      }
    }
  }

 private:
  using Resident = std::unique_ptr<BlockRun>;

  // Gives each resident block a turn; whether any has ended. The oldest one
  // that does not stand still has its turn in between, time and again: it is
  // done soon, or, if it never will be, soon found out.
  bool revisit() {
    const size_t before = resident_.size();
    auto oldest = resident_.begin();
    for (auto block = oldest; block != resident_.end(); ++block) {
      if (*block) turn(*block);
      while (oldest < block && (!*oldest || (*oldest)->stands_still()))
        ++oldest;
      if (oldest < block) turn(*oldest);
    }
    std::erase(resident_, nullptr);
    return resident_.size() != before;
  }

  void turn(Resident& block) {
    // Other threads may have changed memory and not said so yet.
    const bool alone = all_.grid_.threads == 1 && !block->meets_host;
    if (alone && block->stands_still()) return;
    if (block->run()) retire(std::move(block));
  }

  // Begins the next blocks, as many as a batch; whether there were any.
  bool begin() {
    bool any = false;
    for (size_t k = 0; k < batch_ && resident_.size() < room_; ++k) {
      const std::optional<uint64_t> number = all_.take(share_);
      if (!number) break;
      any = true;
      if (all_.cluster_blocks_ > 1) {
        begin_cluster(*number);
        continue;
      }
      Resident block = new_block();
      block->start(*number);
      (block->run() ? idle_ : resident_).push_back(std::move(block));
    }
    return any;
  }

  // All blocks of a cluster have begun before any of them runs.
  void begin_cluster(uint64_t number) {
    std::vector<BlockRun*> blocks;
    const size_t first = resident_.size();
    for (uint32_t k = 0; k < all_.cluster_blocks_; ++k) {
      resident_.push_back(new_block());
      blocks.push_back(resident_.back().get());
    }
    if (all_.backwards_) std::reverse(blocks.begin(), blocks.end());
    for (uint32_t rank = 0; rank < blocks.size(); ++rank) {
      blocks[rank]->join(blocks, rank);
      blocks[rank]->start(all_.grid_.block_at(number, rank));
    }
    for (size_t k = first; k < resident_.size(); ++k) turn(resident_[k]);
    std::erase(resident_, nullptr);
  }

  // A block of a cluster is kept until the others, too, have ended: they may
  // still mean its shared memory.
  void retire(Resident block) {
    if (block->cluster.empty()) return idle_.push_back(std::move(block));
    const bool last = block->cluster_ended();
    const std::vector<Block*> cluster = block->cluster;
    ended_.push_back(std::move(block));
    if (!last) return;
    for (Resident& one : ended_)
      if (one->cluster == cluster) idle_.push_back(std::move(one));
    std::erase(ended_, nullptr);
  }

  Resident new_block() {
    if (idle_.empty())
      return std::make_unique<BlockRun>(all_.grid_, observers_);
    Resident block = std::move(idle_.back());
    idle_.pop_back();
    return block;
  }

  bool stands_still() const {
    return std::all_of(resident_.begin(), resident_.end(),
                       [](const Resident& b) { return b->stands_still(); });
  }

  // Nothing goes on unless the host, another worker or another device changes
  // memory.
  void wait() {
    const bool for_host =
        std::any_of(resident_.begin(), resident_.end(),
                    [](const Resident& b) { return b->meets_host; });
    const uint64_t changes = all_.grid_.changes;
    if (!for_host && stands_still() && all_.all_wait(me_, changes)) {
      if (others_ && others_->await_change(changes)) return;
      if (pass_time()) return;
      livelock();
    }
    nap(for_host);
  }

  // Of all blocks; whether it has helped any.
  bool pass_time() {
    bool helps = false;
    for (Resident& block : resident_) helps |= block->pass_time();
    return helps;
  }

  // Who waits for its cluster waits for who does something else.
  [[noreturn]] void livelock() const {
    const auto culprit =
        std::find_if(resident_.begin(), resident_.end(),
                     [](const Resident& b) { return !b->waits_for_cluster(); });
    (culprit == resident_.end() ? resident_.front() : *culprit)
        ->livelock(all_.unbegun());
  }

  void nap(bool for_host) {
    if (++looks_ < kLooks) return std::this_thread::yield();
    const auto time = std::chrono::microseconds(std::min(looks_, 1000));
    bool host_waits = true;
    if (others_)
      host_waits = others_->pause(time);
    else
      std::this_thread::sleep_for(time);
    if (for_host && host_waits)
      for (Resident& block : resident_)
        block->add_seconds(std::chrono::duration<double>(time).count());
  }

  Workers& all_;
  const size_t me_;
  const Observers observers_;
  Others* const others_;
  const size_t room_;                      // for so many resident blocks
  std::vector<Resident> ended_;            // of clusters that have not
  std::vector<Resident> resident_, idle_;  // resident: in the order they began
  Workers::Share share_;
  size_t batch_ = 1;
  int looks_ = 0, rounds_ = 0;
  uint64_t seen_ = 0;  // of Grid::changes
};

Workers::Workers(Grid& grid)
    : grid_(grid),
      cluster_blocks_(grid.shape.cluster_blocks()),
      backwards_(settings::backwards()),
      share_size_(grid.undo ? grid.blocks / (kShares * grid.threads) + 1 : 1),
      waits_since_(grid.threads, kWorks) {
  if (settings::counters())
    counters_ = std::make_unique<Counters>(grid.program.sites);
  if (settings::checks()) {
    allocations().keep_written();
    checker_ = std::make_unique<Checker>(grid);
  } else {
    allocations().drop_written();
  }
}

std::vector<Finding> Workers::findings() const {
  return checker_ ? checker_->findings() : std::vector<Finding>{};
}

Handover Workers::handover() const {
  return checker_ ? checker_->handover() : Handover{};
}

Footprint Workers::footprint() const {
  return checker_ ? checker_->footprint() : Footprint{};
}

Done Workers::done() {
  const uint8_t* const parameters = grid_.parameters.data();
  Done done = {&grid_.kernel,
               grid_.shape,
               {parameters, parameters + grid_.parameters.size()},
               checker_->loaded(),
               {},
               std::move(counters_),
               checker_->footprint(),
               checker_->handover(),
               is_compared(grid_)};
  for (const Touched& one : done.footprint) {
    if (one.use != Use::kStore) done.loaded.insert(one.bytes);
    if (one.use != Use::kLoad) done.stored.insert(one.bytes);
  }
  done.loaded.join_pages();
  done.stored.join_pages();
  return done;
}

void Workers::run() {
  std::vector<std::thread> helpers;
  for (int k = 1; k < grid_.threads; ++k)
    helpers.emplace_back([this, k] {
      if (!ends_soon()) work(k);
    });
  work(0);
  for (std::thread& t : helpers) t.join();
  if (counters_) counters_->spread_runs(grid_.program);
  if (error_) std::rethrow_exception(error_);
}

bool Workers::ends_soon() {
  std::unique_lock lock(mutex_);
  return grid_.undo && ended_.wait_for(lock, kSoon, [this] {
    return waits_since_[0] == kEnded;
  });
}

void Workers::work(size_t me) {
  std::unique_ptr<Counters> counters;
  if (counters_) counters = std::make_unique<Counters>(grid_.program.sites);
  std::unique_ptr<Checker> checker;
  if (checker_) checker = std::make_unique<Checker>(grid_);
  std::exception_ptr error;
  try {
    Worker(*this, me, {counters.get(), checker.get(), Trace::wanted()}).run();
  } catch (...) {
    error = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  waits_since_[me] = kEnded;
  ended_.notify_all();
  if (counters) counters_->add(std::move(*counters));
  if (checker) checker_->add(*checker);
  if (error) {
    if (!error_) error_ = error;
    stop_ = true;
  }
}

std::optional<uint64_t> Workers::take(Share& share) {
  if (stop_ || (grid_.undo && grid_.undo->given_up())) return std::nullopt;
  const uint64_t all = grid_.blocks / cluster_blocks_;
  if (share.next == share.end) {
    share.next = next_.fetch_add(share_size_);
    share.end = std::min(share.next + share_size_, all);
  }
  if (share.next >= all) {
    share.end = share.next;
    return std::nullopt;
  }
  const uint64_t number = share.next++;
  return backwards_ ? all - 1 - number : number;
}

uint64_t Workers::unbegun() const {
  const uint64_t begun = next_ * cluster_blocks_;
  return grid_.blocks - std::min<uint64_t>(begun, grid_.blocks);
}

bool Workers::all_wait(size_t me, uint64_t changes) {
  const std::lock_guard lock(mutex_);
  waits_since_[me] = changes;
  return grid_.changes == changes &&
         std::all_of(waits_since_.begin(), waits_since_.end(),
                     [&](uint64_t since) {
                       return since == changes || since == kEnded;
                     });
}

}  // namespace simt
