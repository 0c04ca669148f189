// Knows which of the grids that launch one another come before which.
#include "common/simt/observe/kin.h"

#include <algorithm>

namespace simt {

Kin::Kin() : words_(kWords) {}

uint32_t Kin::add(Relative relative) {
  relatives_.push_back(std::move(relative));
  return static_cast<uint32_t>(relatives_.size() - 1);
}

void Kin::forget(uint64_t address, uint64_t bytes) {
  const uint64_t first = address / 4, last = (address + bytes - 1) / 4;
  for (uint64_t k = 0; k <= std::min<uint64_t>(last - first, kWords - 1); ++k)
    words_[(first + k) % kWords] = {};
}

// From the first of all to this one.
std::vector<uint32_t> Kin::line_of(uint32_t member) const {
  std::vector<uint32_t> line = {member};
  while (line.back() != 0) line.push_back(relatives_[line.back()].parent);
  std::reverse(line.begin(), line.end());
  return line;
}

bool Kin::is_ancestor(uint32_t one, uint32_t of) const {
  const std::vector<uint32_t> line = line_of(of);
  return one != of && std::ranges::find(line, one) != line.end();
}

bool Kin::is_before(const Touch& touch, uint32_t member) const {
  const std::vector<uint32_t> mine = line_of(member);
  const std::vector<uint32_t> theirs = line_of(touch.member);
  size_t k = 0;
  while (k < mine.size() && k < theirs.size() && mine[k] == theirs[k]) ++k;
  if (k == mine.size()) return true;  // My own child: it runs behind me.
  const Relative& child = relatives_[mine[k]];
  if (child.is_tail) return true;
  if (k == theirs.size()) {  // It was done by who launched that.
    const Moment& then = child.launched;
    return touch.time < (touch.block == then.block
                             ? then.time
                             : then.learned.of(touch.block));
  }
  const Relative& sibling = relatives_[theirs[k]];
  return child.past.knows(sibling.queue, sibling.number);
}

}  // namespace simt
