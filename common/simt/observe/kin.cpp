// Knows which of the grids that launch one another come before which.
#include "common/simt/observe/kin.h"

#include <algorithm>

namespace simt {

Kin::Kin() : words_(kWords) {}

uint32_t Kin::add(Relative relative) {
  if (!relatives_.empty())
    relative.depth = relatives_[relative.parent].depth + 1;
  relatives_.push_back(std::move(relative));
  return static_cast<uint32_t>(relatives_.size() - 1);
}

void Kin::forget(uint64_t address, uint64_t bytes) {
  const uint64_t first = address / 4, last = (address + bytes - 1) / 4;
  for (uint64_t k = 0; k <= std::min<uint64_t>(last - first, kWords - 1); ++k)
    words_[(first + k) % kWords] = {};
}

Kin::Meeting Kin::meeting(uint32_t one, uint32_t other) const {
  Meeting met{one, one, other};
  uint32_t there = other;
  const auto up = [&](uint32_t& at, uint32_t& below) {
    below = at;
    at = relatives_[at].parent;
  };
  while (relatives_[met.at].depth > relatives_[there].depth)
    up(met.at, met.one);
  while (relatives_[there].depth > relatives_[met.at].depth)
    up(there, met.other);
  while (met.at != there) {
    up(met.at, met.one);
    up(there, met.other);
  }
  return met;
}

bool Kin::is_before(const Touch& touch, uint32_t member) const {
  const Meeting met = meeting(member, touch.member);
  if (met.at == member) return true;  // It is a child's: that runs behind.
  const Relative& child = relatives_[met.one];
  if (child.is_tail) return true;
  if (met.at == touch.member) {  // It was done by who launched that.
    const Moment& then = child.launched;
    return touch.time < (touch.block == then.block
                             ? then.time
                             : then.learned.of(touch.block));
  }
  const Relative& sibling = relatives_[met.other];
  return child.past.knows(sibling.queue, sibling.number);
}

}  // namespace simt
