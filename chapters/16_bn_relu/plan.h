// Chapter 16: how the elements of a channel are shared between threads, decided
// on the host from numbers alone.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/bn_relu.h"

namespace batch_norm {

constexpr int kBlock = 256;
constexpr int kSumPack = 4;        // Elements that a thread loads side by side.
constexpr int kRound = 4;          // Packs of that size for each thread.
constexpr int kShort = 8;          // Of a channel: rounds of a block's threads.
constexpr int kResident = 4;       // Blocks that are on an SM at once.
constexpr int kMany = 4;           // Packs of a thread, if x is long.
constexpr int kMostShared = 1024;  // Groups that may share, a counter each.

// Both layouts are rows of `inner` elements of one channel; channels take
// turns, and all of them come `outer` times.
struct Shape {
  int64_t outer = 0, channels = 0, inner = 0;

  __host__ __device__ constexpr int64_t of_each() const {
    return outer * inner;
  }
  __host__ __device__ constexpr int64_t n() const {
    return of_each() * channels;
  }
};

constexpr Shape shape_of(const BnRelu& what) {
  const int64_t pixels = what.height * what.width;
  if (what.channels == 1) return {1, 1, what.images * pixels};
  if (what.channels_last) return {what.images * pixels, what.channels, 1};
  return {what.images, what.channels, pixels};
}

constexpr int bytes_of(Element element) {
  return element == Element::kFloat ? 4 : 2;
}

// A team of threads has one channel. A block has several teams, and `parts`
// blocks have a part each of the same channels, which are a group.
struct Plan {
  int pack = 1;          // Elements per load.
  bool columns = false;  // Whether neighbours are of different channels.
  int teams = 1, members = kBlock;
  int64_t groups = 0;
  int parts = 1;
};

constexpr int power_of_two_up_to(int64_t n, int most) {
  int64_t power = 1;
  while (2 * power <= std::min<int64_t>(n, most)) power *= 2;
  return static_cast<int>(power);
}

// The fewest parts, up to `most`, with which nearly all of the GPU's room for
// blocks is taken until the end; or those that come closest.
constexpr int parts_of(int64_t groups, int64_t most, int64_t room) {
  constexpr double kEnough = 0.95;
  constexpr int kMostTurns = 4;  // Each costs its own start and end.
  int best = 1;
  double taken = 0;
  for (int parts = 1; parts <= std::max<int64_t>(most, 1); ++parts) {
    const int64_t blocks = groups * parts, turns = (blocks + room - 1) / room;
    if (taken >= kEnough || (parts > 1 && turns > kMostTurns)) break;
    const double now = static_cast<double>(blocks) / (turns * room);
    if (now > taken) {
      best = parts;
      taken = now;
    }
  }
  return best;
}

// As many teams as leave each member a round of loads, unless a block's lanes
// would no longer read side by side; then parts enough for all SMs to work.
constexpr Plan make_plan(const Shape& shape, bool aligned, int sms) {
  Plan plan;
  plan.columns = shape.inner == 1;
  if (aligned && shape.inner % kSumPack == 0) plan.pack = kSumPack;

  const int64_t loads = shape.of_each() / plan.pack;
  if (plan.columns) {
    plan.teams = power_of_two_up_to(shape.channels, 32);
    plan.members = kBlock / plan.teams;
  } else {
    plan.members = std::max(32, power_of_two_up_to(loads / kRound, kBlock));
    plan.teams = kBlock / plan.members;
  }
  plan.groups = (shape.channels + plan.teams - 1) / plan.teams;
  if (plan.groups == 0 || plan.groups > kMostShared) return plan;
  const int64_t rounds = loads / (int64_t{kRound} * plan.members);
  // To join parts takes longer than a short channel gains by them.
  if (plan.groups >= sms && rounds <= kShort) return plan;
  int64_t most = 1;  // What is joined must be less than what was summed up.
  while (most < rounds && (most + 1) * (most + 1) <= loads) ++most;
  plan.parts = parts_of(plan.groups, most, int64_t{kResident} * sms);
  return plan;
}

// ---- Channels last, in one launch -------------------------------------------

constexpr int kTall = 512;       // Threads of a block.
constexpr int kKept = 8;         // Packs of x that a thread keeps.
constexpr int kMostParts = 128;  // Blocks that share channels.
constexpr int kMostAcross = 8;   // Threads that share 128 bytes of a row.

// A group is as many channels as the `across` threads of a row have. The rows,
// which are pixels, are dealt out to its `parts` blocks in turns of `down`
// rows, one for each thread that has the same channels.
struct Columns {
  int64_t rows = 0, channels = 0;
  int groups = 0;  // 0: x cannot be cut up so.
  int parts = 1, across = 0, down = 0;
  int turns = 0, more = 0;  // Of each part; the first `more` have one more.

  __host__ __device__ constexpr int turns_of(int part) const {
    return turns + (part < more);
  }
  __host__ __device__ constexpr int64_t row(int part, int turn) const {
    return (int64_t{turn} * parts + part) * down;
  }
  // Of the thread that is `below` the first one; only the last turn may lack
  // it.
  __host__ __device__ constexpr int rows_of(int part, int below) const {
    const int mine = turns_of(part);
    return mine - (row(part, mine - 1) + below >= rows);
  }
  __host__ __device__ constexpr int64_t rows_of(int part) const {
    const int mine = turns_of(part);
    const int64_t end = row(part, mine - 1) + down;
    return int64_t{mine} * down - (end > rows ? end - rows : 0);
  }
};

// With packs of so many elements, and room for so many blocks. A group has the
// channels of a word of the mask. If threads cannot keep all of x, rows travel
// twice, and do so best in whole lines: then it has as many as a line, where
// there are more of those.
constexpr Columns columns_of(const Shape& shape, int pack, int64_t room) {
  Columns columns;
  const int64_t line = int64_t{kMostAcross} * pack;
  const bool kept = shape.n() <= room * kTall * kKept * pack;
  const bool whole = !kept && shape.channels % line == 0;
  const int64_t wide = whole && shape.channels > line ? line : 32;
  const int64_t groups = shape.channels / wide;
  if (shape.inner != 1 || shape.channels % wide != 0 || shape.n() == 0 ||
      groups > std::min<int64_t>(room, kMostShared))
    return columns;
  columns.rows = shape.outer;
  columns.channels = shape.channels;
  columns.groups = static_cast<int>(groups);
  columns.across = static_cast<int>(wide / pack);
  columns.down = kTall / columns.across;
  const int64_t all = (shape.outer + columns.down - 1) / columns.down;
  columns.parts =
      static_cast<int>(std::min({room / groups, all, int64_t{kMostParts}}));
  columns.turns = static_cast<int>(all / columns.parts);
  columns.more = static_cast<int>(all % columns.parts);
  return columns;
}

}  // namespace batch_norm
