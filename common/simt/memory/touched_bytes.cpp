// Keeps and compares sets of bytes.
#include "common/simt/memory/touched_bytes.h"

#include <algorithm>
#include <bit>

#include "common/simt/core/byte_set.h"

namespace simt {
namespace {

std::optional<uint64_t> earlier(std::optional<uint64_t> a,
                                std::optional<uint64_t> b) {
  return a && b ? std::min(*a, *b) : a ? a : b;
}

}  // namespace

TouchedBytes::Bits& TouchedBytes::bits_of(uint64_t page) {
  const uint64_t number = page / kChunkPages;
  if (number != last_number_) {
    last_chunk_ = &chunks_[number];  // It stays where it is.
    last_number_ = number;
  }
  std::unique_ptr<Bits>& bits = (*last_chunk_)[page % kChunkPages];
  if (!bits) {
    bits = std::make_unique<Bits>();
    ++page_count_;
  }
  return *bits;
}

const TouchedBytes::Bits* TouchedBytes::find_bits(uint64_t page) const {
  const auto found = chunks_.find(page / kChunkPages);
  return found == chunks_.end() ? nullptr
                                : found->second[page % kChunkPages].get();
}

// Within a page.
void TouchedBytes::insert_bits(uint64_t begin, uint64_t end) {
  if (begin >= end) return;
  Bits& bits = bits_of(begin / kPageBytes);
  const uint64_t from = begin % kPageBytes, last = (end - 1) % kPageBytes;
  const uint64_t first_mask = ~0ull << from % 64;
  const uint64_t last_mask = ~0ull >> (63 - last % 64);
  if (from / 64 == last / 64) {
    bits[from / 64] |= first_mask & last_mask;
    return;
  }
  bits[from / 64] |= first_mask;
  for (uint64_t k = from / 64 + 1; k < last / 64; ++k) bits[k] = ~0ull;
  bits[last / 64] |= last_mask;
}

void TouchedBytes::insert_whole(uint64_t first, uint64_t last) {
  if (first >= last) return;
  auto next = whole_.upper_bound(last);
  while (next != whole_.begin() && std::prev(next)->second >= first) {
    --next;
    first = std::min(first, next->first);
    last = std::max(last, next->second);
    next = whole_.erase(next);
  }
  whole_[first] = last;
}

void TouchedBytes::insert(uint64_t begin, uint64_t end) {
  if (begin >= end) return;
  hull_begin_ = std::min(hull_begin_, begin);
  hull_end_ = std::max(hull_end_, end);
  const uint64_t first = (begin + kPageBytes - 1) / kPageBytes;
  const uint64_t last = end / kPageBytes;
  if (first > last) return insert_bits(begin, end);
  insert_bits(begin, first * kPageBytes);
  insert_whole(first, last);
  insert_bits(last * kPageBytes, end);
}

void TouchedBytes::insert(const TouchedBytes& others) {
  hull_begin_ = std::min(hull_begin_, others.hull_begin_);
  hull_end_ = std::max(hull_end_, others.hull_end_);
  for (const auto& [first, last] : others.whole_) insert_whole(first, last);
  others.each_page([this](uint64_t page, const Bits& theirs) {
    Bits& mine = bits_of(page);
    for (size_t k = 0; k < mine.size(); ++k) mine[k] |= theirs[k];
  });
}

void TouchedBytes::join_pages() {
  const auto is_all = [](const Bits& bits) {
    return std::ranges::all_of(bits, [](uint64_t b) { return b == ~0ull; });
  };
  for (auto& [number, chunk] : chunks_)
    for (uint64_t k = 0; k < kChunkPages; ++k) {
      if (!chunk[k] || !is_all(*chunk[k])) continue;
      const uint64_t page = number * kChunkPages + k;
      insert_whole(page, page + 1);
      chunk[k].reset();
      --page_count_;
    }
}

bool TouchedBytes::is_whole(uint64_t page) const {
  const auto next = whole_.upper_bound(page);
  return next != whole_.begin() && page < std::prev(next)->second;
}

bool TouchedBytes::contains(uint64_t begin, uint64_t end) const {
  while (begin < end) {
    const uint64_t page = begin / kPageBytes;
    const uint64_t to = std::min(end, (page + 1) * kPageBytes);
    if (!is_whole(page)) {
      const Bits* const found = find_bits(page);
      if (!found) return false;
      Bits bits = *found;
      if (!ByteSet(bits.data())
               .contains(begin - page * kPageBytes, to - page * kPageBytes))
        return false;
    }
    begin = to;
  }
  return true;
}

// Whole pages of mine against all of theirs.
std::optional<uint64_t> TouchedBytes::common_whole(
    const TouchedBytes& other) const {
  std::optional<uint64_t> first;
  for (const auto& [begin, end] : whole_) {
    auto theirs = other.whole_.upper_bound(begin);
    if (theirs != other.whole_.begin() && std::prev(theirs)->second > begin)
      --theirs;
    if (theirs == other.whole_.end() || theirs->first >= end) continue;
    first = std::max(begin, theirs->first) * kPageBytes;
    break;
  }
  other.each_page([&](uint64_t page, const Bits& bits) {
    if (!is_whole(page) || (first && page * kPageBytes >= *first)) return;
    for (size_t k = 0; k < bits.size(); ++k) {
      if (bits[k] == 0) continue;
      first = earlier(first,
                      page * kPageBytes + k * 64 + std::countr_zero(bits[k]));
      break;
    }
  });
  return first;
}

std::optional<uint64_t> TouchedBytes::first_common(
    const TouchedBytes& other) const {
  if (hull_begin_ >= other.hull_end_ || other.hull_begin_ >= hull_end_)
    return {};
  std::optional<uint64_t> first =
      earlier(common_whole(other), other.common_whole(*this));
  const bool fewer = pages() <= other.pages();
  const TouchedBytes& many = fewer ? other : *this;
  (fewer ? *this : other).each_page([&](uint64_t page, const Bits& bits) {
    const Bits* const theirs = many.find_bits(page);
    if (!theirs) return;
    for (size_t k = 0; k < bits.size(); ++k) {
      const uint64_t both = bits[k] & (*theirs)[k];
      if (both == 0) continue;
      first =
          earlier(first, page * kPageBytes + k * 64 + std::countr_zero(both));
      break;
    }
  });
  return first;
}

}  // namespace simt
