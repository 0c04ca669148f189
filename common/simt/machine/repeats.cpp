// Keeps the last launches, and compares.
#include "common/simt/machine/repeats.h"

#include <algorithm>

#include "common/simt/core/settings.h"
#include "common/simt/memory/allocations.h"

namespace simt {
namespace {

// Programs that repeat more kernels than this in turn are run as they are.
constexpr size_t kMost = 8;
// What one of them touches here and there may take 2 MiB of bits.
constexpr size_t kMostPages = 4096;

bool is_same(const LaunchShape& a, const LaunchShape& b) {
  return std::ranges::equal(a.grid, b.grid) &&
         std::ranges::equal(a.block, b.block) &&
         a.dynamic_shared == b.dynamic_shared && a.device == b.device;
}

bool is_same(const AlignedBytes& a, const std::vector<uint8_t>& b) {
  return a.size() == b.size() && std::equal(b.begin(), b.end(), a.data());
}

}  // namespace

const Done* Repeats::find(const Grid& grid) {
  forget_what_others_changed();
  const auto found = std::ranges::find_if(all_, [&](const Done& d) {
    return d.kernel == &grid.kernel && is_same(grid.shape, d.shape) &&
           is_same(grid.parameters, d.parameters) &&
           (d.counters != nullptr) == settings::counters();
  });
  return found == all_.end() ? nullptr : &*found;
}

void Repeats::add(Done done) {
  const size_t pages = done.loaded.pages() + done.stored.pages();
  std::erase_if(all_, [&](const Done& d) {
    return d.loaded.first_common(done.stored) ||
           d.stored.first_common(done.stored);
  });
  // What it has changed itself may change what it does.
  const bool apart = !done.loaded.first_common(done.stored);
  if (apart && pages <= kMostPages) all_.push_front(std::move(done));
  if (all_.size() > kMost) all_.pop_back();
  changes_ = allocations().changes();
}

void Repeats::forget_what_others_changed() {
  if (changes_ != allocations().changes()) clear();
}

}  // namespace simt
