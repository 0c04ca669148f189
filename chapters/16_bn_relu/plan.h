// Chapter 16: how the elements of a channel are shared between threads, decided
// on the host from numbers alone.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>

#include "common/bn_relu.h"

namespace batch_norm {

constexpr int kBlock = 256;
constexpr int kSumPack = 4;        // Elements that a thread loads side by side.
constexpr int kRound = 4;          // A thread should have so many of them.
constexpr int kResident = 4;       // So many blocks are on an SM at once.
constexpr int kMostShared = 1024;  // Groups that may share: so many counters.

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

// A team of threads has one channel or, where a load lies across neighbouring
// channels, kSumPack of them. A block has several teams, and `parts` blocks
// have a part each of the same channels, which are a group.
struct Plan {
  int pack = 1;          // Elements per load.
  bool columns = false;  // Whether neighbours are of different channels.
  int teams = 1, members = kBlock;
  int64_t groups = 0;
  int parts = 1;

  __host__ __device__ constexpr int channels_of_thread() const {
    return columns ? pack : 1;
  }
  __host__ __device__ constexpr int channels_of_block() const {
    return teams * channels_of_thread();
  }
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
// would no longer read side by side; then so many parts that all SMs work.
constexpr Plan make_plan(const Shape& shape, bool aligned, int sms) {
  Plan plan;
  plan.columns = shape.inner == 1;
  const int64_t side = plan.columns ? shape.channels : shape.inner;
  if (aligned && side % kSumPack == 0) plan.pack = kSumPack;

  const int64_t loads = shape.of_each() / (plan.columns ? 1 : plan.pack);
  if (plan.columns) {
    plan.teams = power_of_two_up_to(shape.channels / plan.pack, 32);
    plan.members = kBlock / plan.teams;
  } else {
    plan.members = std::max(32, power_of_two_up_to(loads / kRound, kBlock));
    plan.teams = kBlock / plan.members;
  }
  const int64_t in_block = plan.channels_of_block();
  plan.groups = (shape.channels + in_block - 1) / in_block;
  if (plan.groups == 0 || plan.groups > kMostShared) return plan;
  const int64_t rounds = loads / (int64_t{kRound} * plan.members);
  int64_t most = 1;  // What is joined must be less than what was summed up.
  while (most < rounds && (most + 1) * (most + 1) <= loads) ++most;
  plan.parts = parts_of(plan.groups, most, int64_t{kResident} * sms);
  return plan;
}

// With so many blocks, or a multiple of them, packs of a thread are a multiple
// of all channels apart, so that it keeps to its columns. 0 where packs have no
// columns, or where these are more blocks than there is room for.
constexpr int64_t blocks_in_columns(const Shape& shape, int pack,
                                    int64_t room) {
  const int64_t packs = shape.channels / pack;
  if (shape.inner != 1 || packs * pack != shape.channels) return 0;
  const int64_t blocks = packs / std::gcd(packs, int64_t{kBlock});
  return blocks <= room ? blocks : 0;
}

}  // namespace batch_norm
