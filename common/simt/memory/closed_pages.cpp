// Closes and opens pages, and remembers who came too early.
#include "common/simt/memory/closed_pages.h"

#include <sys/mman.h>

#include <algorithm>

namespace simt {
namespace {

void set_protection(uint64_t begin, uint64_t end, int protection) {
  mprotect(reinterpret_cast<void*>(begin), end - begin, protection);
}

}  // namespace

void ClosedPages::protect(const Closed& pages) const {
  set_protection(pages.begin, pages.end,
                 pages.to_reads ? PROT_NONE : PROT_READ);
}

// But for what others have closed there: reads first, which the other kind
// includes.
void ClosedPages::open_again(uint64_t begin, uint64_t end) const {
  set_protection(begin, end, PROT_READ | PROT_WRITE);
  for (const bool to_reads : {false, true})
    for (const Closed& other : closed_)
      if (other.to_reads == to_reads && other.begin < end && begin < other.end)
        protect(other);
}

void ClosedPages::close(uint64_t begin, uint64_t end, bool to_reads,
                        const Owner& owner) {
  const std::lock_guard lock(mutex_);
  if (closed_.size() == kMost) return;
  if (watch) watch();
  const auto covers = [&](const Closed& other) {
    return other.begin <= begin && end <= other.end &&
           other.to_reads >= to_reads;
  };
  const bool closed = std::any_of(closed_.begin(), closed_.end(), covers);
  closed_.push_back({begin, end, to_reads, owner});
  if (!closed) open_again(begin, end);
}

void ClosedPages::open_if(const std::function<bool(const Closed&)>& may) {
  const std::lock_guard lock(mutex_);
  std::vector<Closed> opened;
  std::erase_if(closed_, [&](const Closed& one) {
    if (!may(one)) return false;
    opened.push_back(one);
    return true;
  });
  for (const Closed& one : opened)
    if (one.begin < one.end) open_again(one.begin, one.end);
}

void ClosedPages::open(const std::function<bool(const void*)>& is_done) {
  open_if([&](const Closed& one) { return is_done(one.owner.get()); });
}

void ClosedPages::open(uint64_t begin, uint64_t end) {
  open_if(
      [&](const Closed& one) { return one.begin < end && begin < one.end; });
}

bool ClosedPages::stopped(uint64_t address, bool by_write) {
  const std::lock_guard lock(mutex_);
  const auto meets = [&](const Closed& one) {
    return one.begin <= address && address < one.end;
  };
  // Where reads are let in, it was no read.
  by_write |= std::none_of(
      closed_.begin(), closed_.end(),
      [&](const Closed& one) { return meets(one) && one.to_reads; });
  bool ours = false;
  for (Closed& one : closed_) {
    if (!meets(one)) continue;
    ours = true;
    if (by_write || one.to_reads) remember({one.owner, address, by_write});
    // It has been found, and is no longer in the way.
    set_protection(one.begin, one.end, PROT_READ | PROT_WRITE);
    one.end = one.begin;
  }
  return ours;
}

// Once for each piece of work.
void ClosedPages::remember(const Early& early) {
  const bool known =
      std::any_of(early_, early_ + early_count_, [&](const Early& one) {
        return one.owner == early.owner && one.address == early.address;
      });
  if (!known && early_count_ < kMostEarly) early_[early_count_++] = early;
}

std::vector<ClosedPages::Early> ClosedPages::take_early() {
  const std::lock_guard lock(mutex_);
  std::vector<Early> all(early_, early_ + early_count_);
  for (size_t k = 0; k < early_count_; ++k) early_[k] = {};
  early_count_ = 0;
  return all;
}

ClosedPages& closed_pages() {
  static auto* one = new ClosedPages;
  return *one;
}

}  // namespace simt
