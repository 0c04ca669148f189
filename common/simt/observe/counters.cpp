// Counts sectors, wavefronts, conflicts as the hardware does.
#include "common/simt/observe/counters.h"

#include <algorithm>

#include "common/simt/core/program.h"
#include "common/simt/observe/places.h"

namespace simt {
namespace {

constexpr int kBanks = 32;  // of 4 bytes

// Something for each of the numbers that the lanes of a warp have: in a table
// of twice as many places, so that the first free one is near.
template <class T>
class ByNumber {
 public:
  T& operator[](uint64_t number) {
    uint64_t k = number * kSpread >> (64 - kLogPlaces);
    while (number_[k] != 0 && number_[k] != number + 1) k = (k + 1) % kPlaces;
    if (number_[k] == 0) {
      number_[k] = number + 1;
      value_[k] = {};
    }
    return value_[k];
  }

 private:
  static constexpr int kLogPlaces = 6, kPlaces = 1 << kLogPlaces;
  static_assert(kPlaces == 2 * kLanes);
  static constexpr uint64_t kSpread =
      0x9e3779b97f4a7c15;  // 2^64 / golden ratio
  uint64_t number_[kPlaces] = {};
  T value_[kPlaces];
};

// The stretches of memory that lanes mean, apart from one another, if they come
// in order of their addresses; else there are none.
struct Stretches {
  Extent at[kLanes];
  int count = 0;

  explicit Stretches(const Access& a) {
    bool in_order = true;
    a.each_span([&](const Access::Span& s) {
      if (count == 0 || s.begin > at[count - 1].end)
        at[count++] = {s.begin, s.end};
      else if (s.begin >= at[count - 1].begin)
        at[count - 1].end = std::max(at[count - 1].end, s.end);
      else
        in_order = false;
    });
    if (!in_order) count = 0;
  }
};

// Lanes that change the same place take turns, and each turn counts the sectors
// it touches: a sector as often as the most wanted of its places.
uint64_t atomic_sectors(const Access& a) {
  ByNumber<int> turns, most;
  uint64_t sum = 0;
  for (uint32_t rest = a.mask; rest; rest &= rest - 1) {
    const uint64_t place = a.address[first_lane(rest)];
    if (++turns[place] <= most[place / 32]) continue;
    ++most[place / 32];
    ++sum;
  }
  return sum;
}

struct Used {
  uint64_t sectors = 0, bytes = 0;
};

Used used(const Stretches& all) {
  Used sum;
  for (uint64_t k = 0, next = 0; k < uint64_t(all.count); ++k) {
    const uint64_t end = (all.at[k].end - 1) / 32 + 1;
    sum.sectors += end - std::max(next, all.at[k].begin / 32);
    sum.bytes += all.at[k].end - all.at[k].begin;
    next = end;
  }
  return sum;
}

// A lane's access is aligned to its size of at most 32 bytes: it lies within
// one sector.
Used used_by_lanes(const Access& a) {
  Used sum;
  ByNumber<uint32_t> bytes_of;  // a bit for each of a sector's
  const uint32_t bytes = ~0u >> (32 - a.bytes);
  for (uint32_t rest = a.mask; rest; rest &= rest - 1) {
    const uint64_t begin = a.address[first_lane(rest)];
    uint32_t& known = bytes_of[begin / 32];
    const uint32_t fresh = bytes << begin % 32 & ~known;
    sum.sectors += known == 0;
    sum.bytes += std::popcount(fresh);
    known |= fresh;
  }
  return sum;
}

void count_global(const Access& a, MemoryCounts& c) {
  ++c.requests;
  if (a.dense) {
    const uint64_t bytes = uint64_t{a.bytes} * kLanes;
    c.sectors += (a.address[0] + bytes - 1) / 32 - a.address[0] / 32 + 1;
    c.used_bytes += bytes;
    c.least_sectors += bytes / 32;
    return;
  }
  const Stretches all(a);
  const Used sum = all.count ? used(all) : used_by_lanes(a);
  c.used_bytes += sum.bytes;
  c.least_sectors += (sum.bytes + 31) / 32;
  c.sectors += a.use == Use::kAtomic ? atomic_sectors(a) : sum.sectors;
}

// The words of 4 bytes that hold what an access means.
void count_words(const Access& a, MemoryCounts& c) {
  Access words(a.operand, 4, Use::kLoad);
  words.mask = a.mask;
  for (uint32_t rest = a.mask; rest; rest &= rest - 1)
    words.address[first_lane(rest)] = a.address[first_lane(rest)] & ~3ull;
  count_global(words, c);
}

// What does not go through L1 is counted by where it goes: the sectors of
// shared memory, each as often as its bytes come from different lines of 128.
uint64_t bypassing_sectors(const AsyncCopy& copy) {
  ByNumber<bool> known;
  uint64_t sum = 0;
  for (uint32_t rest = copy.from->mask; rest; rest &= rest - 1) {
    const int l = first_lane(rest);
    bool& piece =
        known[copy.from->address[l] / 128 << 20 | copy.to.address[l] / 32];
    sum += !piece;
    piece = true;
  }
  return sum;
}

// Do lanes of `mask` together want no more than one word of each bank, side by
// side? Then none has to wait, and nothing has to be counted.
bool is_one_row(const Access& a, uint32_t mask) {
  uint64_t begin = UINT64_MAX, end = 0;
  a.each_span(mask, [&](const Access::Span& s) {
    begin = std::min(begin, s.begin);
    end = std::max(end, s.end);
  });
  return (end - 1) / 4 - begin / 4 < kBanks;
}

// Each bank delivers one of its words per pass; lanes that want the same word
// share it. So many passes do the lanes of one phase need.
int passes(const Access& a, uint32_t mask) {
  if (is_one_row(a, mask)) return 1;
  constexpr int kMost = 4 * kLanes;  // words that a phase could want
  uint64_t words[kMost];
  int8_t before[kMost], last[kBanks];  // in the same bank; -1: none
  uint8_t in_bank[kBanks] = {};
  std::fill_n(last, kBanks, int8_t{-1});
  int count = 0, most = 1;
  a.each_span(mask, [&](const Access::Span& s) {
    for (uint64_t word = s.begin / 4; word <= (s.end - 1) / 4; ++word) {
      const auto bank = word % kBanks;
      int k = last[bank];
      while (k >= 0 && words[k] != word) k = before[k];
      if (k >= 0) continue;
      words[count] = word;
      before[count] = last[bank];
      last[bank] = static_cast<int8_t>(count++);
      most = std::max<int>(most, ++in_bank[bank]);
    }
  });
  return most;
}

// Do lanes that are `apart` (a power of two) want the same, wherever both are
// active?
bool neighbours_coincide(const Access& a, int apart) {
  for (int l = 0; l < kLanes; ++l) {
    const int other = l ^ apart;
    if (l < other && a.mask >> l & a.mask >> other & 1 &&
        a.address[l] != a.address[other])
      return false;
  }
  return true;
}

// Lanes that are served together. 8 bytes per lane take two phases of half a
// warp, 16 bytes four of a quarter; a load needs only half of them where each
// lane wants what its neighbour wants, or its neighbour but one.
int lanes_in_phase(const Access& a) {
  if (a.matrix && a.matrix->by_rows) return 8;
  if (a.bytes <= 4) return kLanes;
  const int lanes = a.bytes == 8 ? kLanes / 2 : kLanes / 4;
  const bool halved = a.use == Use::kLoad &&
                      (neighbours_coincide(a, 1) || neighbours_coincide(a, 2));
  return halved ? 2 * lanes : lanes;
}

void count_shared(const Access& a, MemoryCounts& c) {
  ++c.requests;
  if (a.dense) {  // Without conflicts, whatever the width.
    c.wavefronts += std::max<int>(1, a.bytes / 4);
    return;
  }
  const int lanes = lanes_in_phase(a);
  const uint32_t phase = lanes == kLanes ? kAllLanes : (1u << lanes) - 1;
  for (int first = 0; first < kLanes; first += lanes) {
    const uint32_t mask = a.mask & phase << first;
    if (mask == 0) continue;
    const int n = passes(a, mask);
    c.wavefronts += n;
    c.conflicts += n - 1;
  }
}

// ncu has ldmatrix and stmatrix among what the hardware did, and not among the
// instructions that access shared memory.
void count_rows(const Access& a, MemoryCounts& c) {
  MemoryCounts rows;
  count_shared(a, rows);
  rows.requests = 0;
  rows.of_rows = rows.wavefronts;
  c.add(rows);
}

Access moved(const Access& a, int bytes, int by) {
  Access there(a.operand, bytes, a.use);
  there.mask = a.mask;
  for (int l = 0; l < kLanes; ++l) there.address[l] = a.address[l] + by;
  there.compare_neighbours();
  return there;
}

// What ptxas makes of it: as it is, as one with others, or of what is read.
template <class Count>
void count_as_made(const Instruction& ins, const Access& a, MemoryCounts& c,
                   Count count) {
  if (ins.made_bytes == 0) return count(a, c);
  count(moved(a, ins.made_bytes, -ins.made_before), c);
  if (const int after = ins.made_again_after)
    count(moved(a, ins.made_bytes, after - ins.made_before), c);
}

}  // namespace

void MemoryCounts::add(const MemoryCounts& other) {
  requests += other.requests;
  sectors += other.sectors;
  used_bytes += other.used_bytes;
  least_sectors += other.least_sectors;
  wavefronts += other.wavefronts;
  of_rows += other.of_rows;
  conflicts += other.conflicts;
}

void InstructionCounts::add(const InstructionCounts& other) {
  issued += other.issued;
  lanes += other.lanes;
  branches += other.branches;
  divergent += other.divergent;
  predicated += other.predicated;
  machine_issued += other.machine_issued;
  machine_lanes += other.machine_lanes;
  barriers += other.barriers;
  system_fences += other.system_fences;
  global.add(other.global);
  shared.add(other.shared);
  words.add(other.words);
}

void Counters::access(const Instruction& ins, const Access& access) {
  if (ins.one_for_all && !std::has_single_bit(access.mask)) {
    Access one = access;
    one.mask &= -one.mask;
    one.dense = false;
    return this->access(ins, one);
  }
  if (ins.made_bytes == Instruction::kNotMade) return;
  if (ins.releases) fence(ins);
  InstructionCounts& c = sites_[ins.site];
  if (access.space == Space::kShared) {
    if (access.owner) return;
    if (access.matrix && access.matrix->by_rows)
      return count_rows(access, c.shared);
    return count_as_made(ins, access, c.shared, count_shared);
  }
  count_as_made(ins, access, c.global, count_global);
  if (ins.atomic_form == AtomicForm::kLoadFirst) count_words(access, c.words);
  touch(access);
}

// Those that a generic address leads to lie in global memory, behind what else
// the driver hands to a kernel.
void Counters::parameters(const Instruction& ins, const Access& access) {
  constexpr uint64_t kFirst = 0x210;
  if (access.operand.space != Space::kGeneric) return;
  Access there = access;
  for (uint64_t& address : there.address) address += kFirst;
  count_global(there, sites_[ins.site].global);
}

// The hardware counts what it reads as a load, and nothing of what it writes.
void Counters::copy(const AsyncCopy& copy) {
  if (!copy.from) return;
  if (copy.is_bulk()) return touch_bulk(copy);
  MemoryCounts& c = sites_[copy.ins->site].global;
  const uint64_t sectors = c.sectors;
  count_global(*copy.from, c);
  if (copy.bypasses) c.sectors = sectors + bypassing_sectors(copy);
  touch(*copy.from);
}

void Counters::touch_bulk(const AsyncCopy& copy) {
  for (const Access* a : {&*copy.from, &copy.to}) {
    if (a->space != Space::kGlobal) continue;
    copy.each_part(*a, [&](const Access& part) {
      const uint64_t begin = part.address[first_lane(part.mask)];
      touched_.insert(begin, begin + part.bytes);
    });
  }
}

void Counters::touch(const Access& access) {
  access.each_span(
      [&](const Access::Span& s) { touched_.insert(s.begin, s.end); });
}

void Counters::spread_runs(const Program& program) {
  for (const auto& [name, function] : program.functions)
    for (const Instruction& first : function.code)
      for (int k = 0; k < first.counted; ++k) {
        InstructionCounts& one = sites_[(&first)[k].site];
        one.issued += issues_[first.site].times;
        one.lanes += issues_[first.site].lanes;
      }
}

uint64_t Counters::sectors() const { return touched_.count(); }

void Counters::add(Counters&& other) {
  for (size_t k = 0; k < sites_.size(); ++k) {
    issues_[k].times += other.issues_[k].times;
    issues_[k].lanes += other.issues_[k].lanes;
    sites_[k].add(other.sites_[k]);
  }
  touched_.insert(std::move(other.touched_));
}

}  // namespace simt
