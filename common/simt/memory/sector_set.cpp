// Joins and counts sets of sectors.
#include "common/simt/memory/sector_set.h"

namespace simt {

void SectorSet::insert(SectorSet&& others) {
  for (auto& [number, theirs] : others.pages_) {
    Page& mine = pages_[number];
    if (mine.count < theirs.count) std::swap(mine, theirs);
    if (!theirs.bits) continue;  // None of them, or of mine all.
    for (uint64_t k = 0; k < theirs.bits->size(); ++k)
      mine.insert(k, (*theirs.bits)[k]);
  }
}

bool SectorSet::contains(uint64_t address) const {
  const uint64_t s = address / kSectorBytes;
  const auto found = pages_.find(s / kPageSectors);
  if (found == pages_.end()) return false;
  const Page& page = found->second;
  return page.count == kPageSectors ||
         (page.bits && (*page.bits)[s % kPageSectors / 64] >> s % 64 & 1);
}

uint64_t SectorSet::count() const {
  uint64_t sum = 0;
  for (const auto& [number, page] : pages_) sum += page.count;
  return sum;
}

}  // namespace simt
