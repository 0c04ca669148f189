// Keeps bits for bytes, and none for pages that are full.
#include "common/simt/memory/written_bytes.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/simt/core/error.h"

namespace simt {
namespace {

// Zeros that cost nothing until they are touched.
void* reserve_zeros(uint64_t bytes) {
  void* zeros = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (zeros == MAP_FAILED)
    throw Error(
        "no room for the checks of memory; SIMT_CHECKS=off runs without them");
  return zeros;
}

}  // namespace

WrittenBytes::WrittenBytes(uint64_t bytes)
    : words_(static_cast<uint64_t*>(reserve_zeros(bytes / 8))),
      bits_(words_),
      counts_(static_cast<uint32_t*>(
          reserve_zeros((bytes / kPageBytes + 1) * sizeof(uint32_t)))) {}

void WrittenBytes::insert_in(uint64_t page, uint64_t begin, uint64_t end) {
  uint32_t count = kPageBytes;
  if (end - begin == kPageBytes)
    __atomic_store_n(&counts_[page], count, __ATOMIC_RELEASE);
  else if (const auto fresh = static_cast<uint32_t>(bits_.insert(begin, end)))
    count = __atomic_add_fetch(&counts_[page], fresh, __ATOMIC_ACQ_REL);
  else
    return;
  if (count >= kPageBytes) drop_bits(page);
}

std::optional<WrittenBytes::Gap> WrittenBytes::gap(uint64_t begin, uint64_t end,
                                                   uint64_t least) const {
  uint64_t from = begin;
  for (uint64_t at = begin; at < end;) {
    const uint64_t rest = bits(at / 64) >> at % 64;
    const uint64_t room = std::min(64 - at % 64, end - at);
    if (rest & 1) {
      if (at - from >= least) return Gap{from, at};
      from = at += std::min<uint64_t>(std::countr_one(rest), room);
    } else {
      at += std::min<uint64_t>(std::countr_zero(rest), room);
    }
  }
  if (end - from < least) return {};
  return Gap{from, end};
}

void WrittenBytes::erase(uint64_t begin, uint64_t end) {
  each_page(begin, end, [this](uint64_t page, uint64_t from, uint64_t to) {
    if (__atomic_load_n(&counts_[page], __ATOMIC_ACQUIRE) != 0)
      erase_in(page, from, to);
    return true;
  });
}

void WrittenBytes::erase_in(uint64_t page, uint64_t begin, uint64_t end) {
  if (end - begin == kPageBytes) {
    drop_bits(page);
    __atomic_store_n(&counts_[page], 0, __ATOMIC_RELEASE);
    return;
  }
  if (full(page)) {
    std::memset(words_ + page * kPageBytes / 64, 0xff, kPageBytes / 8);
    __atomic_store_n(&counts_[page], kPageBytes, __ATOMIC_RELEASE);
  }
  const auto gone = static_cast<uint32_t>(bits_.erase(begin, end));
  __atomic_sub_fetch(&counts_[page], gone, __ATOMIC_ACQ_REL);
}

void WrittenBytes::drop_bits(uint64_t page) {
  uint64_t* const first = words_ + page * kPageBytes / 64;
  if (madvise(first, kPageBytes / 8, MADV_DONTNEED) != 0)
    std::memset(first, 0, kPageBytes / 8);
}

}  // namespace simt
