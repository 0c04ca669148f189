// Keeps pages, and puts bytes of them back.
#include "common/simt/memory/undo.h"

#include <algorithm>
#include <cstring>

#include "common/simt/memory/allocations.h"

namespace simt {

// Whoever writes there has asked before, and waits until the page is copied.
void Undo::keep(uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto [known, fresh] = pages_.try_emplace(number);
  if (!fresh) return;
  if (pages_.size() > kMostPages) give_up();
  known->second = std::make_unique<Page>();
  Page& page = *known->second;
  Allocations& all = allocations();
  const uint64_t begin = number * kPageBytes;
  std::memcpy(page.bytes.data(), all.look_at(begin), kPageBytes);
  page.written.fill(~0ull);  // as all of the host's memory is
  if (!all.in_arena(begin)) return;
  const uint64_t first = (begin - all.arena_begin()) / 64;
  for (size_t k = 0; k < page.written.size(); ++k)
    page.written[k] = all.written().bits(first + k);
}

void Undo::restore(uint64_t begin, uint64_t end) const {
  while (begin < end) {
    const uint64_t number = begin / kPageBytes;
    const uint64_t to = std::min(end, (number + 1) * kPageBytes);
    restore(*pages_.at(number), begin, to);
    begin = to;
  }
}

// Bytes of one page.
void Undo::restore(const Page& page, uint64_t begin, uint64_t end) {
  Allocations& all = allocations();
  std::memcpy(all.open(begin), &page.bytes[begin % kPageBytes], end - begin);
  const auto was_written = [&](uint64_t at) {
    return page.written[at % kPageBytes / 64] >> at % 64 & 1;
  };
  while (begin < end) {
    const uint64_t first = begin++;
    if (was_written(first)) continue;
    while (begin < end && !was_written(begin)) ++begin;
    all.written().erase(first - all.arena_begin(), begin - all.arena_begin());
  }
}

}  // namespace simt
