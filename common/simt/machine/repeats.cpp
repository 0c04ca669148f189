// Keeps the last launches, and compares.
#include "common/simt/machine/repeats.h"

#include <algorithm>
#include <cstring>

#include "common/simt/core/digest.h"
#include "common/simt/core/settings.h"
#include "common/simt/memory/allocations.h"
#include "common/simt/observe/overlaps.h"

namespace simt {
namespace {

// Programs that repeat more launches than this in turn are run as they are.
constexpr size_t kMost = 32;
// What one of them touches here and there may take 2 MiB of bits.
constexpr size_t kMostPages = 4096;
// All that they wrote; more is not kept.
constexpr size_t kMostBytes = 256 << 20;
// A launch that read something else so often will do so again.
constexpr int kMostMisses = 2;

bool is_same(const LaunchShape& a, const LaunchShape& b) {
  return std::ranges::equal(a.grid, b.grid) &&
         std::ranges::equal(a.block, b.block) &&
         a.dynamic_shared == b.dynamic_shared && a.device == b.device &&
         a.begins_early == b.begins_early &&
         a.explicit_cluster == b.explicit_cluster;
}

// Whether it was a launch of this kernel with just these arguments.
template <class Bytes>
bool was(const Done& done, const Kernel* kernel, const LaunchShape& shape,
         const Bytes& parameters) {
  const std::vector<uint8_t>& then = done.parameters;
  return done.kernel == kernel && is_same(done.shape, shape) &&
         parameters.size() == then.size() &&
         std::equal(then.begin(), then.end(), parameters.data());
}

// Whether its results lie there until somebody stores to what it touched: not
// where it has changed what it reads, or the host may, unseen.
bool stays_there(const Done& done) {
  return allocations().is_closed_to_host() &&
         !done.loaded.first_common(done.stored);
}

// f(page, begin, end) for the parts of `bytes`, always in the same order.
template <class F>
void each_part(const TouchedBytes& bytes, F f) {
  bytes.each_range([&](uint64_t begin, uint64_t end) {
    while (begin < end) {
      const uint64_t page = begin / Undo::kPageBytes;
      const uint64_t to = std::min(end, (page + 1) * Undo::kPageBytes);
      f(page, begin, to);
      begin = to;
    }
  });
}

size_t size_of(const TouchedBytes& bytes) {
  size_t sum = 0;
  bytes.each_range([&](uint64_t begin, uint64_t end) { sum += end - begin; });
  return sum;
}

// Which bytes of a page had been written: of those nobody had, a kernel may not
// make use.
std::array<uint64_t, Undo::kPageBytes / 64> written_bits(uint64_t page) {
  std::array<uint64_t, Undo::kPageBytes / 64> bits;
  bits.fill(~0ull);
  Allocations& all = allocations();
  const uint64_t begin = page * Undo::kPageBytes;
  if (!all.in_arena(begin) || all.is_written(begin, Undo::kPageBytes))
    return bits;
  for (size_t k = 0; k < bits.size(); ++k)
    bits[k] = all.written().bits((begin - all.arena_begin()) / 64 + k);
  return bits;
}

// Of memory as it is, or as it was before a launch that may be taken back.
uint64_t digest_of(const TouchedBytes& bytes, const Undo* undo = nullptr) {
  Digest digest;
  each_part(bytes, [&](uint64_t page, uint64_t begin, uint64_t end) {
    const uint64_t from = begin % Undo::kPageBytes;
    const uint64_t to = from + (end - begin);
    const auto add = [&](const void* at, const auto& written) {
      digest.add(at, end - begin);
      digest.add(&written[from / 64],
                 ((to + 63) / 64 - from / 64) * sizeof(uint64_t));
    };
    if (const Undo::Page* const before = undo ? undo->before(page) : nullptr)
      add(&before->bytes[from], before->written);
    else
      add(allocations().look_at(begin), written_bits(page));
  });
  return digest.sum();
}

}  // namespace

std::list<Repeats::Known>::iterator Repeats::recall(const Grid& grid) {
  return std::ranges::find_if(all_, [&](const Known& k) {
    return was(k.done, &grid.kernel, grid.shape, grid.parameters) &&
           (k.done.counters != nullptr) == settings::counters() &&
           k.done.is_compared == is_compared(grid);
  });
}

const Done* Repeats::find(const Grid& grid) {
  look_for_changes();
  const auto found = recall(grid);
  if (found == all_.end()) return nullptr;
  if (!found->is_there) {
    if (!would_read_the_same(*found)) {
      found->misses += found->has_values;
      return nullptr;
    }
    write_again(*found);
  }
  all_.splice(all_.begin(), all_, found);
  return &found->done;
}

bool Repeats::may_come_again(const Grid& grid) {
  if (const auto known = recall(grid); known != all_.end())
    return known->misses < kMostMisses;
  const bool seen = std::ranges::any_of(seen_, [&](const Done& one) {
    return was(one, &grid.kernel, grid.shape, grid.parameters);
  });
  if (seen) return true;
  const uint8_t* const parameters = grid.parameters.data();
  Done& now = seen_.emplace_back();
  now.kernel = &grid.kernel;
  now.shape = grid.shape;
  now.parameters.assign(parameters, parameters + grid.parameters.size());
  if (seen_.size() > kMost) seen_.pop_front();
  return false;
}

void Repeats::add(Done done, const Undo& undo, bool comes_again) {
  forget_what_meets(done);
  changes_ = allocations().changes();
  int misses = 0;
  std::erase_if(all_, [&](const Known& k) {
    const bool same = was(k.done, done.kernel, done.shape, done.parameters);
    if (same) misses = k.misses;
    return same;
  });
  if (done.loaded.pages() + done.stored.pages() > kMostPages) return;
  Known& known = all_.emplace_front();
  known.done = std::move(done);
  known.is_there = stays_there(known.done);
  known.misses = misses;
  if (comes_again) learn_values(known, undo);
  while (all_.size() > kMost || bytes_kept() > kMostBytes) all_.pop_back();
}

void Repeats::forget_what_is_there() {
  for (Known& known : all_) known.is_there = false;
}

void Repeats::look_for_changes() {
  if (changes_ == allocations().changes()) return;
  forget_what_is_there();
  changes_ = allocations().changes();
}

void Repeats::learn_values(Known& known, const Undo& undo) {
  const Done& done = known.done;
  const size_t bytes = size_of(done.stored);
  if (bytes > kMostBytes / 2) return;
  known.has_values = true;
  known.version = Allocations::version();
  known.read = digest_of(done.loaded, &undo);
  known.wrote.reserve(bytes);
  done.stored.each_range([&](uint64_t begin, uint64_t end) {
    const auto* from =
        static_cast<const uint8_t*>(allocations().look_at(begin));
    known.wrote.insert(known.wrote.end(), from, from + (end - begin));
  });
}

bool Repeats::would_read_the_same(const Known& known) const {
  return known.has_values && known.version == Allocations::version() &&
         digest_of(known.done.loaded) == known.read;
}

void Repeats::write_again(Known& known) {
  const uint8_t* from = known.wrote.data();
  bool any = false;
  known.done.stored.each_range([&](uint64_t begin, uint64_t end) {
    const size_t bytes = end - begin;
    if (std::memcmp(allocations().look_at(begin), from, bytes) != 0) {
      std::memcpy(allocations().open(begin), from, bytes);
      any = true;
    }
    allocations().note_written(begin, bytes);  // It may have been undone.
    from += bytes;
  });
  if (any) forget_what_meets(known.done);
  changes_ = allocations().changes();
  known.is_there = stays_there(known.done);
}

// It has stored what others read or wrote.
void Repeats::forget_what_meets(const Done& done) {
  for (Known& known : all_)
    if (known.is_there && (known.done.loaded.first_common(done.stored) ||
                           known.done.stored.first_common(done.stored)))
      known.is_there = false;
}

size_t Repeats::bytes_kept() const {
  size_t sum = 0;
  for (const Known& known : all_) sum += known.wrote.size();
  return sum;
}

}  // namespace simt
