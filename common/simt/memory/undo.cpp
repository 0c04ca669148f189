// Keeps pages, and puts bytes of them back.
#include "common/simt/memory/undo.h"

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
  std::memcpy(page.bytes.data(), all.open(begin), kPageBytes);
  page.written.fill(~0ull);  // as all of the host's memory is
  if (!all.in_arena(begin)) return;
  const uint64_t first = (begin - all.arena_begin()) / 64;
  for (size_t k = 0; k < page.written.size(); ++k)
    page.written[k] = all.written().bits(first + k);
}

void Undo::restore(uint64_t begin, uint64_t end) const {
  Allocations& all = allocations();
  for (uint64_t at = begin; at < end; ++at) {
    const Page& page = *pages_.at(at / kPageBytes);
    const uint64_t k = at % kPageBytes;
    *static_cast<uint8_t*>(all.open(at)) = page.bytes[k];
    if (page.written[k / 64] >> k % 64 & 1) continue;
    const uint64_t offset = at - all.arena_begin();
    all.written().erase(offset, offset + 1);
  }
}

}  // namespace simt
